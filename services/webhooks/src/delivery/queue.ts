import { and, is, or, type Store } from '@stak/table';
import type { BaseDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { unlessLost } from '../lost-write.ts';
import { type Delivery, delivery } from '../tables.ts';

// The queue of deliveries is an index of the table itself: `dueIn` is a shard, or the connection whose backlog holds
// the delivery, and `dueAt` its time.

export type DeliveryRef = { eventId: string; connectionId: string; run: number };
// `goneOwner` is gone and has left its lease behind: the delivery may be claimed before the lease ends.
export type DueDelivery = DeliveryRef & { goneOwner?: string };

export const keyOf = ({ eventId, connectionId, run }: DeliveryRef) => ({ eventId, connectionId, run });

type QueueDeps = Pick<BaseDeps, 'store' | 'dueShards'>;

const unfinished = is.oneOf(['pending', 'retrying'] as const);

// Leases it to the owner. When the lease ends, it is due again. The version fences what the owner writes later.
export const claimDelivery = (
  { store, dueShards }: QueueDeps,
  ref: DueDelivery,
  owner: string,
  nowMs: number,
): Promise<Delivery | undefined> => {
  const isDue = { dueAt: is.atMost(nowMs) };
  const isFree = ref.goneOwner === undefined ? isDue : or(isDue, { owner: ref.goneOwner });
  return unlessLost(
    store.update(
      delivery,
      keyOf(ref),
      { set: { owner, dueIn: dueShards.of(ref.eventId), dueAt: nowMs + limits.leaseMs } },
      {
        // In any shard, but not in a backlog.
        if: and({ state: unfinished, dueIn: is.not(ref.connectionId) }, isFree),
        pattern: 'claim delivery',
      },
    ),
  );
};

// Undefined if another process has claimed it since.
export const renewLease = (store: Store, leased: Delivery, nowMs: number): Promise<Delivery | undefined> =>
  unlessLost(
    store.update(
      delivery,
      keyOf(leased),
      { set: { dueAt: nowMs + limits.leaseMs } },
      { ifVersion: leased.version, current: leased, pattern: 'renew lease of a delivery' },
    ),
  );

// Puts it into the backlog of its connection, where it stays until the backlog is released.
export const holdDelivery = (
  store: Store,
  ref: DeliveryRef,
  nowMs: number,
  { expiresAt, version: ifVersion }: { expiresAt?: number; version?: number } = {},
): Promise<Delivery | undefined> =>
  unlessLost(
    store.update(
      delivery,
      keyOf(ref),
      { set: { dueIn: ref.connectionId, dueAt: nowMs, expiresAt }, remove: ['owner'] },
      {
        // A caller without a lease may hold only a delivery that is not leased.
        if: { state: unfinished, ...(ifVersion === undefined && { dueAt: is.atMost(nowMs) }) },
        ifVersion,
        pattern: 'hold delivery',
      },
    ),
  );

export const releaseDelivery = (
  { store, dueShards }: QueueDeps,
  ref: DeliveryRef,
  nowMs: number,
): Promise<Delivery | undefined> =>
  unlessLost(
    store.update(
      delivery,
      keyOf(ref),
      { set: { dueIn: dueShards.of(ref.eventId), dueAt: nowMs } },
      { if: { state: unfinished, dueIn: ref.connectionId }, pattern: 'release delivery' },
    ),
  );

// Ends a lease without an attempt, and makes the delivery due at another time.
export const postponeDelivery = ({ store, dueShards }: QueueDeps, claimed: Delivery, dueAt: number) =>
  unlessLost(
    store.update(
      delivery,
      keyOf(claimed),
      { set: { dueIn: dueShards.of(claimed.eventId), dueAt }, remove: ['owner'] },
      { ifVersion: claimed.version, pattern: 'postpone delivery' },
    ),
  );
