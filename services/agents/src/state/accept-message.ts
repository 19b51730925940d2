import { and, type Condition, failedCondition, type ItemOf, is, or, write } from '@stak/table';
import type { Service, StateDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { message, state } from '../main-table.ts';
import {
  type ConversationKey,
  type ConversationLease,
  dueAt,
  isFree,
  isLeased,
  leaseOf,
  readState,
  type StateItem,
} from './lease.ts';
import type { MessageItem } from './turn-items.ts';

export type Incoming = Omit<MessageItem, 'status' | 'accepted_at' | 'epoch' | 'seq' | 'reason' | 'ttl'>;

export type Accepted =
  | { kind: 'held'; held: ConversationLease } // and this process must answer it
  | { kind: 'queued' } // the holder of the lease, or a worker, answers it with the other waiting messages
  | { kind: 'busy' }
  | { kind: 'repeated' }
  | { kind: 'absent' }; // there is no such conversation, or not for this user

export type AcceptMode = {
  asUser?: string; // the conversation must belong to this user
  whenBusy: 'queue' | 'refuse';
  waitsMs?: number; // waits for more messages of a burst instead of being answered now
};

const isThere: Condition<StateItem> = or({ is_deleted: is.absent }, { is_deleted: false });
const isOpen: Condition<StateItem> = { paused: is.absent }; // no turn waits for an approval
const hasRoom: Condition<StateItem> = { waiting_count: is.below(limits.waitingMessages) };

// Once accepted, a message is not lost: it waits in the table until a turn answers it. Accepting it twice has no
// further effect.
export async function acceptMessage(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  incoming: Incoming,
  mode: AcceptMode,
): Promise<Accepted> {
  if (mode.waitsMs !== undefined) return queue(service, incoming, mode, mode.waitsMs);
  const lease = leaseOf(service, incoming);
  const isOurs = and(isFree(service.clock.now()), isOpen);
  const taken = await put(service, incoming, mode, isOurs, lease);
  if (taken.kind === 'done') {
    const known = await readState(service, incoming);
    if (known?.fence !== lease.fence) return { kind: 'queued' }; // already cleared: the message's outcome says so
    return { kind: 'held', held: { key: keyOf(incoming), fence: lease.fence, state: known } };
  }
  if (taken.kind !== 'leased') return taken;
  return mode.whenBusy === 'refuse' ? { kind: 'busy' } : queue(service, incoming, mode, 0);
}

// Queues the message behind a turn that is in progress or waits for an approval, or until a burst is over. The holder
// of a lease looks again when it commits.
async function queue(
  service: Pick<Service, 'store' | 'clock' | 'dueShards' | 'notifier'>,
  incoming: Incoming,
  mode: AcceptMode,
  waitsMs: number,
): Promise<Accepted> {
  for (let lost = 0; lost < limits.raceAttempts; lost++) {
    const known = await readState(service, incoming);
    const isHeld = known !== undefined && isLeased(known, service.clock.now());
    const restMs = Math.max(service.clock.now() + waitsMs, known?.retry_at ?? 0);
    const dueMs = isHeld ? known.leased_until! : restMs;
    const asSeen = {
      fence: known?.fence === undefined ? is.absent : known.fence,
      paused: known?.paused === undefined ? is.absent : known.paused,
    };
    const isBehind = known?.paused !== undefined && !isHeld; // due together with that turn
    const due = isBehind ? {} : dueAt(service, incoming, dueMs);
    const outcome = await put(service, incoming, mode, asSeen, due);
    if (outcome.kind === 'leased') continue;
    if (outcome.kind !== 'done') return outcome;
    service.notifier.notify();
    return { kind: 'queued' };
  }
  return { kind: 'busy' };
}

type Put =
  | { kind: 'done' }
  | { kind: 'leased' }
  | { kind: 'busy' }
  | { kind: 'repeated' }
  | { kind: 'absent' };

async function put(
  service: Pick<Service, 'store' | 'clock'>,
  incoming: Incoming,
  { asUser }: AcceptMode,
  condition: Condition<StateItem>,
  change: Partial<ItemOf<typeof state>>,
): Promise<Put> {
  const ofUser: Condition<StateItem>[] = asUser === undefined ? [] : [{ user_id: asUser }];
  const item = { ...incoming, status: 'waiting' as const, accepted_at: service.clock.now() };
  try {
    await service.store.transact(
      {
        'the state': write.update(
          state,
          keyOf(incoming),
          { set: change, add: { waiting: new Set([incoming.message_id]), waiting_count: 1 } },
          { if: and(isThere, hasRoom, ...ofUser, condition) },
        ),
        'the message': write.put(message, item, { ifAbsent: true }),
      },
      { pattern: 'accept a message' },
    );
    return { kind: 'done' };
  } catch (error) {
    if (failedCondition(error, 'the message')) return { kind: 'repeated' };
    const refused = failedCondition(error, 'the state');
    if (!refused) throw error;
    const known = refused.current as StateItem | undefined;
    if (!known || known.is_deleted) return { kind: 'absent' };
    if (asUser !== undefined && known.user_id !== asUser) return { kind: 'absent' };
    return { kind: known.waiting_count >= limits.waitingMessages ? 'busy' : 'leased' };
  }
}

const keyOf = ({ tenant_id, conversation_id }: ConversationKey): ConversationKey => ({
  tenant_id,
  conversation_id,
});
