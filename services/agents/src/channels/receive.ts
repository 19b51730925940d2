import { createHash } from 'node:crypto';
import { userName } from '@stak/http';
import { cutText } from '@stak/kit';
import { is, isRefused, write } from '@stak/table';
import { tenantErrors } from '@stak/tenants';
import { chooseAgent } from '../agents/current.ts';
import { decide } from '../approvals/decisions.ts';
import { createConversation } from '../conversations/conversations.ts';
import {
  type Base,
  type ChannelDeps,
  type EnteredTenant,
  type Service,
  type SkillDeps,
  type StateDeps,
  secondsOf,
  ttlAfter,
} from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { message as messageItem, state } from '../main-table.ts';
import { approvalParams } from '../schema.ts';
import { readAgentSettings } from '../settings.ts';
import { acceptMessage, type Incoming } from '../state/accept-message.ts';
import { dueAt } from '../state/lease.ts';
import { cleanText } from '../state/message-format.ts';
import { nextEpoch } from '../state/turn-items.ts';
import { isRefusal, refundMessage, reserveMessage } from '../usage/quota.ts';
import type { ChannelMessage, ChannelPress } from './channel.ts';
import { type ChannelAddress, openSecrets } from './secrets.ts';
import { writeReply } from './send-reply.ts';
import { notice } from './tables.ts';

const hash = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);

// A message from a verified channel. It is stored before it is answered: the provider gets a 200 when nothing can be
// lost.
export async function takeMessage(
  service: StateDeps &
    Pick<
      Service,
      'store' | 'clock' | 'sealer' | 'resolveChannel' | 'findChannelUser' | 'hasRoom' | 'countMessage'
    >,
  owner: string,
  address: ChannelAddress,
  said: ChannelMessage,
): Promise<void> {
  const { type, channel_id } = address;
  // Its receipt has expired, so it could not be distinguished from a repetition.
  const oldestS = secondsOf(service.clock.now()) - limits.receiptDays * 24 * 60 * 60;
  if (said.atS !== undefined && said.atS < oldestS) return;
  const conversationFor = (user: string) => ({
    tenant_id: owner,
    conversation_id: `${type}-${hash(channel_id, said.chat, user)}`,
  });
  const nobody = {
    tenant_id: owner,
    conversation_id: `${type}-${hash(channel_id, said.chat, '', said.identity)}`,
  };
  const to = { tenant_id: owner, type, channel_id, to: said.replyTo };
  const entered = await enter(service, address, owner);
  if (typeof entered === 'string') return notifySender(service, nobody, said.identity, to, entered);
  const settings = readAgentSettings(entered.settings);
  if (!settings.enabled_channels.includes(type))
    return notifySender(service, nobody, said.identity, to, 'disabled');
  const user_id = await service.findChannelUser(owner, type, said.identity);
  if (user_id === undefined) return notifySender(service, nobody, said.identity, to, 'unknown');

  const conversation = conversationFor(user_id); // an identity that is linked to another user starts a new conversation
  const message_id = `msg_${hash(type, channel_id, said.id)}`;
  if (await service.store.get(messageItem, { ...conversation, message_id }, { consistent: true })) return;
  if (!(await service.hasRoom(entered.account_id, Buffer.byteLength(said.text) + limits.answerBytes)))
    return notifySender(service, nobody, said.identity, to, 'full');
  let reserved_on: string;
  try {
    reserved_on = await reserveMessage(service, { tenant_id: owner, user_id }, settings);
  } catch (error) {
    if (agentErrors.includes(error)) return notifySender(service, nobody, said.identity, to, 'quota');
    throw error;
  }
  const content = cutText(cleanText(said.text), limits.contentChars);
  const reply_to = JSON.stringify(to);
  const incoming = {
    ...conversation,
    message_id,
    content,
    fingerprint: '-',
    channel: type,
    user_id,
    reply_to,
    reserved_on,
  };
  try {
    if (!(await acceptFrom(service, incoming, user_id, entered)))
      await refundMessage(service, incoming, reserved_on);
  } catch (error) {
    if (isRefusal(error)) await refundMessage(service, incoming, reserved_on);
    throw error;
  }
}

// A button was pressed. The person decides as their linked user, and only what that user may decide: the first decision
// counts. The response is shown to them only.
export async function takePress(
  service: Base & StateDeps & ChannelDeps & SkillDeps & Pick<Service, 'roleOf' | 'audit'>,
  owner: string,
  address: ChannelAddress,
  press: ChannelPress,
): Promise<string> {
  const decided = await decidePress(service, owner, address, press);
  if (!decided.isDone && press.privateTo) {
    const opened = await openSecrets(service, address);
    const channel = service.channels[address.type];
    if (opened)
      await channel.sendPrivately?.(
        service,
        address.channel_id,
        opened.secrets,
        press.privateTo,
        decided.text,
      );
  }
  return decided.text;
}

async function decidePress(
  service: Base & StateDeps & Pick<Service, 'resolveChannel' | 'findChannelUser' | 'roleOf' | 'audit'>,
  owner: string,
  address: ChannelAddress,
  { identity, approved, ...named }: ChannelPress,
): Promise<{ isDone: boolean; text: string }> {
  const refused = (text: string) => ({ isDone: false, text });
  const entered = await enter(service, address, owner);
  if (typeof entered === 'string') return refused(notices.suspended!);
  if (!readAgentSettings(entered.settings).enabled_channels.includes(address.type))
    return refused(notices.disabled!);
  const userId = await service.findChannelUser(owner, address.type, identity);
  if (userId === undefined) return refused(notices.unknown!);
  const { conversation_id, approval_id } = named;
  const key = approvalParams.safeParse({ tenant_id: owner, conversation_id, approval_id });
  if (!key.success) return refused(pressRefusals['agents.approval_not_found']!);
  const caller = { kind: 'endUser', tenantId: owner, userId, scope: 'agents:chat' } as const;
  try {
    const { status } = await decide(
      service,
      caller,
      key.data,
      { approved },
      { account_id: entered.account_id, via: address.type, credentialId: userName(caller) },
    );
    return { isDone: true, text: status === 'approved' ? 'Approved.' : 'Refused.' };
  } catch (error) {
    if (!agentErrors.includes(error) || !(error.code in pressRefusals)) throw error;
    return refused(pressRefusals[error.code] ?? error.message);
  }
}

const pressRefusals: Readonly<Record<string, string | undefined>> = {
  'agents.approval_not_found': 'You cannot decide this, or it has already been decided.',
  'agents.approval_not_yours': undefined, // clear enough
  'agents.approval_decided': undefined,
};

// Returns whether it was new.
async function acceptFrom(
  service: StateDeps & Pick<Service, 'store' | 'clock' | 'sealer'>,
  incoming: Incoming,
  user_id: string,
  tenant: EnteredTenant,
): Promise<boolean> {
  for (let tries = 0; tries < 3; tries++) {
    const mode = { asUser: user_id, whenBusy: 'queue', waitsMs: limits.burstMs } as const;
    const { kind } = await acceptMessage(service, incoming, mode);
    if (kind === 'repeated') return false;
    if (kind === 'busy')
      throw agentErrors.create('agents.conversation_busy', 'Too many messages are waiting.');
    if (kind !== 'absent') return true;
    const agent = await chooseAgent(service, undefined, tenant, {});
    await createConversation(service, incoming, { user_id, channel: incoming.channel, ...agent }).catch(
      error => {
        if (!agentErrors.includes(error)) throw error; // somebody else was faster
      },
    );
  }
  throw agentErrors.create(
    'agents.conversation_busy',
    'The conversation is being cleaned up. Try again in a moment.',
  );
}

// The tenant, or why there is none for this channel.
async function enter(
  service: Pick<Service, 'resolveChannel'>,
  { type, channel_id }: ChannelAddress,
  owner: string,
) {
  try {
    const entered: EnteredTenant = await service.resolveChannel(type, channel_id);
    return entered.tenant_id === owner ? entered : 'moved';
  } catch (error) {
    if (!tenantErrors.includes(error)) throw error;
    return error.code === 'tenants.channel_not_found' ? 'moved' : 'suspended';
  }
}

const notices: Readonly<Record<string, string>> = {
  unknown: 'I do not know you yet. Ask the administrator of your team to link your account.',
  suspended: 'This assistant is not available at the moment.',
  disabled: 'This assistant does not answer here.',
  full: 'I cannot take messages at the moment: the storage of your team is full.',
  quota: 'The messages of today are used up. I am back tomorrow.',
};

// Sends a notice now and then, not for every message. A channel that no longer belongs to this tenant gets none.
async function notifySender(
  service: Pick<Service, 'store' | 'clock' | 'dueShards' | 'notifier'>,
  conversation: { tenant_id: string; conversation_id: string },
  identity: string,
  to: Parameters<typeof writeReply>[0],
  reason: string,
): Promise<void> {
  const text = notices[reason];
  if (text === undefined) return;
  const nowMs = service.clock.now();
  const days = reason === 'quota' || reason === 'full' ? 1 : limits.noticeDays;
  const sent = {
    tenant_id: conversation.tenant_id,
    type: to.type,
    identity,
    reason,
    ttl: ttlAfter(nowMs, days),
  };
  const fresh = { epoch: nextEpoch(0, nowMs), last_seq: 0, waiting_count: 0 };
  try {
    await service.store.transact(
      {
        'the notice': write.put(notice, sent, { ifAbsent: true }),
        'the reply': write.update(
          state,
          conversation,
          { set: { reply: writeReply(to, text), ...dueAt(service, conversation, nowMs) }, setOnce: fresh },
          // A worker that holds the notice removes it without checking again. Then it does not count as sent, and the
          // next message causes another one.
          { upsert: true, if: { fence: is.absent, reply: is.absent } },
        ),
      },
      { pattern: 'notify a sender once' },
    );
    service.notifier.notify();
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
}
