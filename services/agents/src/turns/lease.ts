import { type ItemOf, is, isRefused, or } from '@stak/table';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';
import { dueStates, state } from '../table.ts';

export type ConversationKey = { tenant_id: string; conversation_id: string };
export type StateItem = ItemOf<typeof state>;

// Its holder writes the next turn. The fence is an id that was never used before, so a holder that was asleep
// while others wrote, cleared or deleted finds that it holds nothing.
export type Held = { key: ConversationKey; fence: string; state: StateItem; isReleased?: boolean };

export const keyOfConversation = ({ tenant_id, conversation_id }: ConversationKey): ConversationKey => ({
  tenant_id,
  conversation_id,
});

// When a worker has to look at the conversation. Every write of the state says so again.
export const dueAt = (
  { dueShards }: Service,
  key: ConversationKey,
  ms: number,
): { due_lane: string; due_at: number } => ({
  due_lane: dueShards.of(key),
  due_at: Math.floor(ms),
});

export const leaseOf = (service: Service, key: ConversationKey) => {
  const leased_until = service.clock.now() + limits.leaseMs;
  return { fence: service.owners.next(), leased_until, ...dueAt(service, key, leased_until) };
};

export const isFree = (nowMs: number) => or({ fence: is.absent }, { leased_until: is.below(nowMs) });
export const isLeased = ({ fence, leased_until }: StateItem, nowMs: number): boolean =>
  fence !== undefined && (leased_until ?? 0) >= nowMs;

export const readState = ({ store }: Pick<Service, 'store'>, key: ConversationKey) =>
  store.get(state, keyOfConversation(key), { consistent: true, pattern: 'read the state' });

// Undefined if somebody else holds it, or there is nothing to hold.
async function acquire(service: Service, key: ConversationKey): Promise<Held | undefined> {
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

// Keeps the lease while the work lasts, and calls it off when the lease is lost.
export async function whileHeld<T>(
  service: Service,
  held: Held,
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
    } catch (error) {
      if (isRefused(error)) lost.abort(error);
      else service.log.warn({ err: error }, 'a lease was not renewed'); // the next renewal may be in time
    }
  };
  const renewing = (async () => {
    while (!lost.signal.aborted) {
      await service.clock.sleep(limits.renewMs, over.signal);
      await renew();
    }
  })().catch(() => {}); // the work was over before that
  try {
    return await work(lost.signal);
  } finally {
    over.abort('over'); // a reason of its own, because the usual one is made with a stack trace
    await renewing;
  }
}

type Work = Pick<StateItem, 'waiting_count' | 'reply' | 'has_stale' | 'paused' | 'paused_until' | 'quiet_at'>;

// When a worker has to look at a conversation that nobody holds: now if there is work, otherwise when it has
// been quiet for a while or may have expired. What waits behind a paused turn waits as long as that.
export function dueWhenFree(
  { waiting_count, reply, has_stale, paused, paused_until = 0, quiet_at = Infinity }: Work,
  nowMs: number,
  idleMs = nowMs + limits.ttlDays * 24 * 60 * 60_000 + limits.expiryGraceMs,
): number {
  if (reply !== undefined || has_stale) return nowMs;
  if (paused !== undefined) return Math.max(nowMs, paused_until);
  return waiting_count > 0 ? nowMs : Math.max(nowMs, Math.min(quiet_at, idleMs));
}

// A turn that waits for an approval: nobody works on it, and nothing behind it is answered.
export const isPaused = ({ paused, paused_until = 0 }: StateItem, nowMs: number): boolean =>
  paused !== undefined && paused_until > nowMs;

// Somebody may decide while the lease is held, and relies on its holder to see it.
export const pauseAsSeen = ({ paused_until }: StateItem) => ({
  paused_until: paused_until === undefined ? is.absent : paused_until,
});

type Released = {
  attempts?: number;
  reply?: string | null;
  has_stale?: boolean;
  isForgotten?: boolean;
  paused_until?: number;
};

// Gives the lease back and says when to look again. That depends on the state as it is then: messages that arrive
// while the lease is held rely on its holder. A lease that was lost in the meantime is not ours to release.
export async function release(
  service: Service,
  held: Held,
  dueMs: (current: StateItem) => number,
  { attempts, reply, has_stale, isForgotten, paused_until }: Released = {},
): Promise<void> {
  const set = { attempts, reply: reply ?? undefined, has_stale, paused_until };
  const over = [
    ...(attempts === undefined ? (['attempts'] as const) : []),
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
        // Decided meanwhile: then that is when it goes on.
        if (current.paused_until !== held.state.paused_until) set.paused_until = undefined;
        held.state = current;
      }
    }
  }
}

// Takes the lease, works, and gives the lease back however that ends. Work that has given it back itself is done.
// False if somebody else holds the lease.
export async function withLease(
  service: Service,
  key: ConversationKey,
  work: (held: Held) => Promise<void>,
): Promise<boolean> {
  const held = await acquire(service, key);
  if (!held) return false;
  const giveBack = async (delayMs: number) => {
    if (held.isReleased) return;
    const nowMs = service.clock.now();
    const { attempts } = held.state;
    await release(service, held, current => dueWhenFree(current, nowMs) + delayMs, { attempts });
  };
  try {
    await work(held);
  } catch (error) {
    await giveBack(limits.turnRetryMs).catch(() => {}); // at once it would fail again
    throw error;
  }
  await giveBack(0);
  return true;
}

// Makes due now what a dead process had leased, instead of when its leases end. The index does not say who holds what,
// so every conversation that becomes due within a lease is looked at.
export async function releaseGone(service: Service): Promise<void> {
  const nowMs = service.clock.now();
  const range = { after: { due_at: nowMs }, to: { due_at: nowMs + limits.leaseMs } };
  const ofShard = async (due_lane: string) => {
    for await (const key of service.store.all(dueStates, { due_lane }, range)) {
      const fence = (await readState(service, key))?.fence;
      if (fence === undefined || !(await service.owners.isGone(fence))) continue;
      const change = { set: dueAt(service, key, nowMs), remove: ['fence', 'leased_until'] as const };
      // On the condition that the dead one still has it: other processes are doing the same.
      await service.store
        .update(state, keyOfConversation(key), change, { if: { fence }, pattern: 'take over a lease' })
        .catch(error => {
          if (!isRefused(error)) throw error;
        });
    }
  };
  await Promise.all(service.dueShards.all().map(ofShard));
}
