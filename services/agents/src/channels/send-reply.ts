import { cutText } from '@stak/kit';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';
import type { MessageItem } from '../turns/commit-turn.ts';
import type { ChannelType } from './channel.ts';
import { openSecrets } from './secrets.ts';

// An answer on its way: kept in the state of its conversation, so that it is sent after a crash, and before the next.
export type ReplyAddress = {
  tenant_id: string;
  type: ChannelType;
  channel_id: string;
  to: Record<string, string>;
};
type Reply = ReplyAddress & { text: string; attempts: number };

export const sayUnavailable = 'I could not answer this. Please try again later.';

// Of a burst, the last message says where the answer goes.
export function replyAddress(waiting: readonly MessageItem[]): ReplyAddress | undefined {
  const text = waiting.findLast(one => one.reply_to !== undefined)?.reply_to;
  return text === undefined ? undefined : (JSON.parse(text) as ReplyAddress);
}

// The reader sees that there was more.
const fit = (text: string, mostChars: number): string =>
  text.length <= mostChars ? text : `${cutText(text, mostChars - 2)} …`;

export const writeReply = (to: ReplyAddress, text: string): string =>
  JSON.stringify({
    ...to,
    text: fit(text, limits.channelTextChars[to.type]),
    attempts: 0,
  } satisfies Reply);

// Undefined when it is sent, or given up. A crash right after sending sends it twice: no channel has a way to ask.
export async function sendReply(
  service: Service,
  text: string,
): Promise<{ reply: string; delayMs: number } | undefined> {
  const reply = JSON.parse(text) as Reply;
  const { tenant_id, type, channel_id, attempts } = reply;
  const opened = await openSecrets(service, { type, channel_id });
  if (opened?.tenant_id !== tenant_id) return undefined; // it is somebody else's channel now
  const outcome = await service.channels[type].send(
    service,
    channel_id,
    opened.secrets,
    reply.to,
    reply.text,
  );
  if (outcome.ok) return undefined;
  service.log.warn(
    { tenant_id, type, channel_id, attempts, reason: outcome.reason },
    'a reply was not taken',
  );
  if (outcome.retryMs === undefined || attempts + 1 >= limits.replyAttempts) return undefined;
  const delayMs = Math.max(outcome.retryMs, limits.replyRetryMs * 2 ** attempts);
  return { reply: JSON.stringify({ ...reply, attempts: attempts + 1 }), delayMs };
}
