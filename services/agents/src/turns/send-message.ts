import { hashParts, httpErrors } from '@stak/http';
import { isUnavailable, ref } from '@stak/table';
import { type ChosenAgent, chooseAgent } from '../agents/current.ts';
import { replyAddress } from '../channels/send-reply.ts';
import type { Draft } from '../conversations/commit-turn.ts';
import { createConversation } from '../conversations/conversations.ts';
import { dropMessages } from '../conversations/deletion.ts';
import { mergeExternalWrites } from '../conversations/external-writes.ts';
import type { EnteredTenant, Service, StateDeps, TurnDeps } from '../deps.ts';
import { agentErrors, cleared, noConversation, noMessage } from '../errors.ts';
import * as limits from '../limits.ts';
import { message, state, turn } from '../main-table.ts';
import { readAgentSettings } from '../settings.ts';
import { acceptMessage, type Incoming } from '../state/accept-message.ts';
import type { Caller } from '../state/access.ts';
import type { AnswerOptions } from '../state/answer-options.ts';
import {
  type ConversationKey,
  type ConversationLease,
  dueWhenFree,
  isPaused,
  keyOfConversation,
  readState,
  release,
  triesOf,
} from '../state/lease.ts';
import { readHead, readTurns, readWaiting } from '../state/reads.ts';
import type { Head, MessageItem, TurnItem } from '../state/turn-items.ts';
import { isRefusal, refundMessage, reserveMessage } from '../usage/quota.ts';
import { answerAtOnce } from './answer-at-once.ts';
import { nextOf } from './cancel.ts';
import { runTurn } from './run-turn.ts';

export type Sending = {
  caller: Caller;
  tenant: EnteredTenant;
  conversation_id: string;
  content: string;
  user_id: string | undefined; // of a new conversation
  agent?: ChosenAgent; // of a new conversation; one that is there keeps its own
  key: string | undefined; // the caller's Idempotency-Key
  cause?: string; // what it is sent because of
  isFollowed?: boolean; // the caller wants the answer's events, not only the answer
  regenerates?: boolean; // the answer replaces that of the last turn, if it asks the same
  creates?: boolean; // also for an end user: the id can be nobody else's
  options?: AnswerOptions;
  isTemporary?: boolean; // a new conversation is not kept
};
export type Sent = {
  message_id: string;
  isRepeated: boolean;
  // Resolves with the answer, or with undefined if it takes too long: the message keeps waiting.
  outcome: Promise<TurnItem | undefined>;
};

const dashboard = 'dashboard';

// Accepts a message and answers it, in this process unless another one is already working on it. If the caller
// disconnects, the turn continues and the result is stored with the message.
export async function sendMessage(
  service: TurnDeps & Pick<Service, 'isStoreLocal' | 'countMessage'>,
  sending: Sending,
): Promise<Sent> {
  const { caller, tenant, conversation_id, content, key } = sending;
  const settings = readAgentSettings(tenant.settings);
  if (!settings.enabled_channels.includes(dashboard))
    throw agentErrors.create('agents.channel_disabled', 'The dashboard is not among the enabled channels.');
  const conversationKey = { tenant_id: tenant.tenant_id, conversation_id };
  const message_id = key === undefined ? service.ids.next('msg') : idOfKey(caller, key);
  const options = sending.options && JSON.stringify(sending.options);
  const fingerprint = options === undefined ? hashParts(content) : hashParts(content, options);
  const address = { ...conversationKey, message_id };
  const before = key === undefined ? undefined : await readMessage(service, address);
  if (before) return repeat(service, before, fingerprint);

  const asUser = caller.kind === 'endUser' ? caller.userId : undefined;
  const draft = () => draftOf(service, sending);
  const granted = caller.kind === 'endUser' ? { granted: caller.scope } : {};
  const again = sending.regenerates ? { regenerates: true } : {};
  const asked = options === undefined ? {} : { options };
  const { cause } = sending;
  const caused = cause === undefined ? {} : { cause };
  const said = { ...granted, ...again, ...asked, ...caused };
  const arrived = { ...address, content, fingerprint, channel: dashboard, ...said };
  const atOnce = { incoming: arrived, tenant, asUser, draft, hasKey: key !== undefined };
  const answeredBy = (turn: TurnItem) => ({ message_id, isRepeated: false, outcome: Promise.resolve(turn) });
  const tenant_id = tenant.tenant_id;
  const mayBeAtOnce = !sending.isFollowed && options === undefined;
  if (service.isStoreLocal && mayBeAtOnce) {
    const counting = { payerOf: (head?: Head) => ({ tenant_id, user_id: payerOf(sending, head) }) };
    const turn = await answerAtOnce(service, { ...atOnce, ...counting });
    if (turn) return answeredBy(turn);
    service.conversationMemory.forget(conversationKey);
  }

  const head = caller.kind === 'account' ? await readHead(service, conversationKey) : undefined;
  const payer = { tenant_id, user_id: payerOf(sending, head) };
  const reserved_on = await reserveMessage(service, payer, settings);
  const incoming: Incoming = { ...arrived, reserved_on };
  if (payer.user_id !== undefined) incoming.user_id = payer.user_id;
  try {
    if (!service.isStoreLocal && mayBeAtOnce) {
      const turn = await answerAtOnce(service, { ...atOnce, incoming, head });
      if (turn) return answeredBy(turn);
    }
    const accepted = await acceptOrCreate(service, sending, incoming, settings.busy, draft);
    if (accepted.kind === 'repeated') {
      await refundMessage(service, payer, reserved_on);
      return repeat(service, (await readMessage(service, address))!, fingerprint);
    }
    const isHeld = accepted.kind === 'held';
    const outcome = isHeld
      ? answerNow(service, accepted.held, tenant, address)
      : awaitAnswer(service, address);
    outcome.catch(() => {}); // streams report it themselves
    return { message_id, isRepeated: false, outcome };
  } catch (error) {
    if (isRefusal(error)) await refundMessage(service, payer, reserved_on);
    throw error;
  }
}

async function draftOf(
  service: Pick<Service, 'store'>,
  { caller, tenant, user_id, isTemporary, agent = {} }: Sending,
): Promise<Draft> {
  return {
    user_id,
    channel: dashboard,
    ...(isTemporary && { is_temporary: true }),
    ...(await chooseAgent(service, caller, tenant, agent)),
  };
}

const callerOf = (caller: Caller): string =>
  caller.kind === 'account' ? `account ${caller.accountId}` : `user ${caller.tenantId} ${caller.userId}`;

const idOfKey = (caller: Caller, key: string): string => `msg_${hashParts(callerOf(caller), key)}`;

// Whether a message with this Idempotency-Key was accepted before.
export const isAccepted = async (
  service: Pick<Service, 'store'>,
  caller: Caller,
  conversation: ConversationKey,
  key: string | undefined,
): Promise<boolean> =>
  key !== undefined &&
  (await readMessage(service, { ...conversation, message_id: idOfKey(caller, key) })) !== undefined;

// The user whose quota counts: the conversation's. For a new one, the user it will belong to.
function payerOf({ caller, user_id }: Sending, head: Head | undefined): string | undefined {
  if (caller.kind === 'endUser') return caller.userId;
  return head ? head.user_id : user_id;
}

async function acceptOrCreate(
  service: StateDeps & Pick<Service, 'store' | 'clock' | 'sealer'>,
  sending: Sending,
  incoming: Incoming,
  busy: 'wait' | 'refuse',
  draft: () => Promise<Draft>,
) {
  const { caller, creates } = sending;
  const asUser = caller.kind === 'endUser' ? caller.userId : undefined;
  const mode = { asUser, whenBusy: busy === 'wait' ? ('queue' as const) : ('refuse' as const) };
  for (let tries = 0; tries < 3; tries++) {
    const accepted = await acceptMessage(service, incoming, mode);
    if (accepted.kind === 'busy')
      throw agentErrors.create('agents.conversation_busy', 'Another message is being answered.', {
        retryAfterS: limits.busyRetryS,
      });
    if (accepted.kind !== 'absent') return accepted;
    // Hosts choose the ids of conversations. End users cannot create one by id, because they could find out which ids
    // are taken.
    if (caller.kind === 'endUser' && !creates) throw noConversation();
    const head = await readHead(service, incoming);
    if (head) await mergeExternalWrites(service, incoming);
    else await createConversation(service, incoming, await draft()).catch(ifNotExisting);
  }
  throw noConversation();
}

const ifNotExisting = (error: unknown) => {
  if (!agentErrors.includes(error) || error.code !== 'agents.conversation_exists') throw error;
};

// Older messages are answered first, and a turn takes only so many: ours may be answered by the next one.
async function answerNow(
  service: TurnDeps,
  held: ConversationLease,
  tenant: EnteredTenant,
  address: Address,
): Promise<TurnItem | undefined> {
  const waiting = nextOf(await readWaiting(service, held.state));
  if (waiting.length === 0) throw cleared();
  if (held.state.reply !== undefined && replyAddress(waiting)) {
    // An earlier answer is still being sent to the channel, and the state has room for one. Ours follows it.
    const nowMs = service.clock.now();
    await release(service, held, current => dueWhenFree(current, nowMs), triesOf(held.state));
    return awaitAnswer(service, address);
  }
  const own = waiting.filter(({ message_id }) => message_id === address.message_id);
  const isAnswered = own.length > 0;
  try {
    const turn = await runTurn(service, { held, waiting, tenant, isAwaited: isAnswered });
    if (isAnswered) return turn;
  } catch (error) {
    // A worker retries messages that waited before, a turn that may already have acted, and an answer that the store
    // could not take: that is no failed attempt, and the sender waits for the answer. Any other error is the sender's.
    const isBusy = isUnavailable(error);
    const retryMs = service.clock.now() + limits.turnRetryMs;
    if (isBusy || held.state.paused !== undefined || !isAnswered)
      await release(service, held, () => retryMs, {
        attempts: isBusy ? held.state.attempts : 1,
        retry_at: retryMs,
      });
    else
      await dropMessages(service, held, own, reasonOf(error), {
        ...(waiting.length > own.length && { retryMs }),
      });
    if (isAnswered && !isBusy) throw error;
  }
  return awaitAnswer(service, address);
}

export const reasonOf = (error: unknown): string =>
  agentErrors.includes(error) ? error.code : 'agents.turn_failed';

const readMessage = ({ store }: Pick<Service, 'store'>, address: ConversationKey & { message_id: string }) =>
  store.get(message, address, { consistent: true, pattern: 'read a receipt' });

async function repeat(
  service: Pick<Service, 'store' | 'clock' | 'hub'>,
  before: MessageItem,
  fingerprint: string,
): Promise<Sent> {
  if (before.fingerprint !== fingerprint)
    throw httpErrors.create(
      'http.idempotency_mismatch',
      'This Idempotency-Key was used for another message.',
    );
  const outcome = awaitAnswer(service, before);
  outcome.catch(() => {});
  return { message_id: before.message_id, isRepeated: true, outcome };
}

type Address = ConversationKey & { message_id: string };

// For a message that is answered elsewhere. Undefined if that takes longer than a caller waits.
export async function awaitAnswer(
  service: Pick<Service, 'store' | 'clock' | 'hub'>,
  { tenant_id, conversation_id, message_id }: Address,
): Promise<TurnItem | undefined> {
  const address = { tenant_id, conversation_id, message_id };
  const untilMs = service.clock.now() + limits.busyWaitMs;
  const listening = service.hub.listen(address);
  try {
    for (;;) {
      const found = await readAnswer(service, address);
      if (found) return found;
      const known = await readState(service, address);
      if (known && isPaused(known, service.clock.now())) return undefined; // a decision may take hours
      const leftMs = untilMs - service.clock.now();
      if (leftMs <= 0) return undefined;
      await listening.wait(Math.min(limits.answerPollMs, leftMs), never);
    }
  } finally {
    listening.close();
  }
}

export const never = new AbortController().signal;

// Messages answered at once have a receipt only if the sender may repeat them. Others are searched among the newest
// turns, because callers ask soon.
async function findTurn(service: Pick<Service, 'store'>, address: Address): Promise<TurnItem | undefined> {
  const known = await readState(service, address);
  if (!known || known.is_deleted) return undefined;
  const turns = await readTurns(service, address, known, limits.answersSearched, Number.POSITIVE_INFINITY);
  return turns.findLast(({ message_ids }) => message_ids.includes(address.message_id));
}

const lostMessage = (): never => {
  throw noMessage();
};

// The turn that answered a message; undefined while it waits.
export async function readAnswer(
  service: Pick<Service, 'store'>,
  address: Address,
): Promise<TurnItem | undefined> {
  const found = await readMessage(service, address);
  if (!found) return (await findTurn(service, address)) ?? lostMessage();
  if (found.status === 'waiting') return undefined;
  const { epoch, seq } = found;
  if (epoch !== undefined && seq !== undefined) {
    const key = keyOfConversation(address);
    const { known, answer } = await service.store.transactGet(
      { known: ref(state, key), answer: ref(turn, { ...key, epoch, seq }) },
      { pattern: 'read an answer' },
    );
    if (answer && known?.epoch === epoch) return answer; // answers of a cleared conversation are hidden
  }
  const reason = found.reason ?? 'cleared';
  throw agentErrors.create('agents.message_dropped', 'The answer to this message is no longer available.', {
    reason,
  });
}
