import { cutText, doubledMs } from '@stak/kit';
import type { Base, Service, SkillDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import type { ConversationKey } from '../state/lease.ts';
import type { MessageItem } from '../state/turn-items.ts';
import type { ChannelType } from './channel.ts';
import { askInChannel } from './question.ts';
import { openSecrets } from './secrets.ts';

// A reply to be sent: stored in the state of its conversation, so that it is sent after a crash, and before the next
// one.
export type ReplyAddress = {
  tenant_id: string;
  type: ChannelType;
  channel_id: string;
  to: Record<string, string>;
};
// `asks` is a turn that waits for an approval: if the channel has buttons, they are shown instead of the text.
// `since` is the time of the first attempt, once that has failed.
type Reply = ReplyAddress & { text: string; attempts: number; since?: number; asks?: string };

export const sayUnavailable = 'I could not answer this. Please try again later.';

// The last of several messages decides where the answer goes.
export function replyAddress(waiting: readonly MessageItem[]): ReplyAddress | undefined {
  const text = waiting.findLast(one => one.reply_to !== undefined)?.reply_to;
  return text === undefined ? undefined : (JSON.parse(text) as ReplyAddress);
}

// Shows that the text was cut.
const fit = (text: string, mostChars: number): string =>
  text.length <= mostChars ? text : `${cutText(text, mostChars - 2)} …`;

export const writeReply = (to: ReplyAddress, text: string, asks?: string): string =>
  JSON.stringify({
    ...to,
    text: fit(text, limits.channelTextChars[to.type]),
    attempts: 0,
    ...(asks !== undefined && { asks }),
  } satisfies Reply);

// The stored reply to these messages, if one of them came from a channel.
export function replyTo(waiting: readonly MessageItem[], text: string, asks?: string): string | undefined {
  const to = replyAddress(waiting);
  return to && writeReply(to, text, asks);
}

// Undefined when it is sent, or given up: if the provider rejects it for good, or for a whole day. After a crash right after sending it is sent twice: channels cannot be asked.
export async function sendReply(
  service: Base & SkillDeps & Pick<Service, 'channels'>,
  key: ConversationKey,
  text: string,
): Promise<{ reply: string; untilMs: number } | undefined> {
  const reply = JSON.parse(text) as Reply;
  const { type, channel_id, attempts } = reply;
  const { tenant_id } = key;
  const opened = await openSecrets(service, { type, channel_id });
  // The channel belongs to another tenant now; or the reply, which may have been imported, names one of another.
  if (opened?.tenant_id !== tenant_id) return undefined;
  const channel = service.channels[type];
  const outcome =
    reply.asks !== undefined && channel.ask
      ? await askInChannel(service, key, reply.asks, { ...reply, secrets: opened.secrets })
      : await channel.send(service, channel_id, opened.secrets, reply.to, reply.text);
  if (outcome.ok) return undefined;
  service.log.warn(
    { tenant_id, type, channel_id, attempts, reason: outcome.reason },
    'the channel rejected a reply',
  );
  const nowMs = service.clock.now();
  const { since = nowMs } = reply;
  const lastMs = since + limits.replyHours * 60 * 60_000;
  if (outcome.retryMs === undefined || nowMs >= lastMs) return undefined;
  const delays = { firstMs: limits.replyRetryMs, mostMs: limits.replyRetryMostMs };
  const delayMs = Math.max(outcome.retryMs, doubledMs(attempts + 1, delays));
  const next = { ...reply, attempts: attempts + 1, since } satisfies Reply;
  return { reply: JSON.stringify(next), untilMs: Math.floor(Math.min(nowMs + delayMs, lastMs)) };
}
