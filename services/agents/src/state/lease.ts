import { type ItemOf, is, isRefused, or } from '@stak/table';
import type { Base, Service, StateDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { dueStates, state } from '../main-table.ts';

export type ConversationKey = { tenant_id: string; conversation_id: string };
export type StateItem = ItemOf<typeof state>;

// The holder writes the next turn. The fence is a new id for each lease, so a holder that was suspended while others
// wrote, cleared or deleted notices that its lease is lost.
export type ConversationLease = {
  key: ConversationKey;
  fence: string;
  state: StateItem;
  isReleased?: boolean;
};

export const keyOfConversation = ({ tenant_id, conversation_id }: ConversationKey): ConversationKey => ({
  tenant_id,
  conversation_id,
});

// When a worker must look at the conversation. Set by every write of the state.
export const dueAt = (
  { dueShards }: Pick<Service, 'dueShards'>,
  key: ConversationKey,
  ms: number,
): { due_lane: string; due_at: number } => ({
  due_lane: dueShards.of(key),
  due_at: Math.floor(ms),
});

export const leaseOf = (service: Pick<Service, 'clock' | 'owners' | 'dueShards'>, key: ConversationKey) => {
  const leased_until = service.clock.now() + limits.leaseMs;
  return { fence: service.owners.next(), leased_until, ...dueAt(service, key, leased_until) };
};

export const isFree = (nowMs: number) => or({ fence: is.absent }, { leased_until: is.below(nowMs) });
export const isLeased = ({ fence, leased_until }: StateItem, nowMs: number): boolean =>
  fence !== undefined && (leased_until ?? 0) >= nowMs;

export const readState = ({ store }: Pick<Service, 'store'>, key: ConversationKey) =>
  store.get(state, keyOfConversation(key), { consistent: true, pattern: 'read the state' });

// Undefined if the lease is held by another, or there is nothing to lease.
async function acquire(
  service: Pick<Service, 'store' | 'clock' | 'owners' | 'dueShards'>,
  key: ConversationKey,
): Promise<ConversationLease | undefined> {
  const lease = leaseOf(service, key);
  try {
    const item = await service.store.update(
      state,
      keyOfConversation(key),
      { set: lease },
      { if: isFree(service.clock.now()), pattern: 'take a lease' },
    );
    return { key: keyOfConversation(key), fence: lease.fence, state: item };
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
}

// Renews the lease during the work, and aborts the work if the lease is lost.
export async function whileHeld<T>(
  service: Base & Pick<Service, 'dueShards'>,
  held: ConversationLease,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const lost = new AbortController();
  const renew = async (): Promise<void> => {
    const leased_until = service.clock.now() + limits.leaseMs;
    const change = { set: { leased_until, ...dueAt(service, held.key, leased_until) } };
    try {
      const options = { if: { fence: held.fence }, pattern: 'renew a lease' };
      await service.store.update(state, held.key, change, options);
      held.state = { ...held.state, leased_until };
    } catch (error) {
      if (isRefused(error)) lost.abort(error);
      else service.log.warn({ err: error }, 'a lease was not renewed'); // the next renewal may succeed in time
    }
  };
  const renewing = (async () => {
    while (!lost.signal.aborted) {
      await service.clock.sleep(limits.renewMs, over.signal);
      await renew();
    }
  })().catch(() => {}); // the work ended first
  try {
    return await work(lost.signal);
  } finally {
    over.abort('over'); // a plain reason, because the default one captures a stack trace
    await renewing;
  }
}

type Work = Pick<
  StateItem,
  | 'waiting_count'
  | 'reply'
  | 'has_stale'
  | 'paused'
  | 'paused_until'
  | 'quiet_at'
  | 'retry_at'
  | 'is_temporary'
>;

export const keptDays = ({ is_temporary }: { is_temporary?: boolean }): number =>
  is_temporary ? limits.temporaryDays : limits.ttlDays;

// When a worker must look at a conversation without a lease: now if there is work, otherwise when it has been quiet for
// a while or may have expired. Messages behind a paused turn wait until that is due. What failed is tried again by time,
// however many messages arrive meanwhile.
export function dueWhenFree(
  work: Work,
  nowMs: number,
  idleMs = nowMs + keptDays(work) * 24 * 60 * 60_000 + limits.expiryGraceMs,
): number {
  const {
    waiting_count,
    reply,
    has_stale,
    paused,
    paused_until = 0,
    quiet_at = Infinity,
    retry_at = 0,
  } = work;
  if (has_stale) return nowMs;
  if (reply !== undefined) return Math.max(nowMs, retry_at);
  if (paused !== undefined) return Math.max(nowMs, paused_until);
  return Math.max(nowMs, waiting_count > 0 ? retry_at : Math.min(quiet_at, idleMs));
}

// A turn that waits for an approval: no worker runs it, and nothing behind it is answered.
export const isPaused = ({ paused, paused_until = 0 }: StateItem, nowMs: number): boolean =>
  paused !== undefined && paused_until > nowMs;

// A decision may come while the lease is held, and relies on its holder to notice.
export const pauseAsSeen = ({ paused_until }: StateItem) => ({
  paused_until: paused_until === undefined ? is.absent : paused_until,
});

// Says how often it has failed, and when it is tried again.
export const triesOf = ({ attempts, retry_at }: StateItem) => ({ attempts, retry_at });

type Released = {
  attempts?: number;
  retry_at?: number;
  reply?: string | null;
  has_stale?: boolean;
  isForgotten?: boolean;
  paused_until?: number;
};

// Releases the lease and sets when to look again, based on the current state: messages that arrive while the lease is
// held rely on its holder. A lease that was lost meanwhile is left alone.
export async function release(
  service: Pick<Service, 'store' | 'dueShards' | 'notifier'>,
  held: ConversationLease,
  dueMs: (current: StateItem) => number,
  { attempts, retry_at, reply, has_stale, isForgotten, paused_until }: Released = {},
): Promise<void> {
  const set = { attempts, retry_at, reply: reply ?? undefined, has_stale, paused_until };
  const over = [
    ...(attempts === undefined ? (['attempts'] as const) : []),
    ...(retry_at === undefined ? (['retry_at'] as const) : []),
    ...(reply === null ? (['reply'] as const) : []),
    ...(isForgotten ? (['forgets', 'recalled_by'] as const) : []),
  ];
  for (let lost = 0; lost < limits.raceAttempts && !held.isReleased; lost++) {
    const { waiting_count } = held.state;
    const next = {
      ...held.state,
      ...(has_stale !== undefined && { has_stale }),
      ...(set.paused_until !== undefined && { paused_until: set.paused_until }),
    };
    const due = dueAt(service, held.key, dueMs(next));
    try {
      await service.store.update(
        state,
        held.key,
        { set: { ...set, ...due }, remove: ['fence', 'leased_until', ...over] },
        {
          if: { fence: held.fence, waiting_count, ...pauseAsSeen(held.state) },
          pattern: 'give back a lease',
        },
      );
      held.isReleased = true;
      service.notifier.notify();
    } catch (error) {
      if (!isRefused(error)) throw error;
      const current = await readState(service, held.key);
      if (current?.fence !== held.fence) held.isReleased = true;
      else {
        // Decided meanwhile: the turn continues at that time.
        if (current.paused_until !== held.state.paused_until) set.paused_until = undefined;
        held.state = current;
      }
    }
  }
}

// Takes the lease, works, and releases the lease whatever the result, unless the work has released it. Returns false if
// the lease is held by another.
export async function withLease(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  key: ConversationKey,
  work: (held: ConversationLease) => Promise<void>,
): Promise<boolean> {
  const held = await acquire(service, key);
  if (!held) return false;
  const giveBack = async (delayMs: number) => {
    if (held.isReleased) return;
    const nowMs = service.clock.now();
    const tries = triesOf(held.state);
    await release(service, held, current => dueWhenFree(current, nowMs) + delayMs, tries);
  };
  try {
    await work(held);
  } catch (error) {
    await giveBack(limits.turnRetryMs).catch(() => {}); // an immediate retry would fail again
    throw error;
  }
  await giveBack(0);
  return true;
}

// Makes conversations leased by a dead process due now instead of when their leases end. The index does not contain the
// holders, so it reads every conversation that becomes due within the time of a lease.
export async function releaseGone(
  service: Pick<Service, 'store' | 'clock' | 'owners' | 'dueShards'>,
): Promise<void> {
  const nowMs = service.clock.now();
  const range = { after: { due_at: nowMs }, to: { due_at: nowMs + limits.leaseMs } };
  const ofShard = async (due_lane: string) => {
    for await (const key of service.store.all(dueStates, { due_lane }, range)) {
      const fence = (await readState(service, key))?.fence;
      if (fence === undefined || !(await service.owners.isGone(fence))) continue;
      const change = { set: dueAt(service, key, nowMs), remove: ['fence', 'leased_until'] as const };
      // On the condition that the dead process still holds it: other processes do the same.
      await service.store
        .update(state, keyOfConversation(key), change, { if: { fence }, pattern: 'take over a lease' })
        .catch(error => {
          if (!isRefused(error)) throw error;
        });
    }
  };
  await Promise.all(service.dueShards.all().map(ofShard));
}
