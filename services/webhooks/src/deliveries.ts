import { is, type Store } from '@stak/table';
import { dueShardOf } from './due.ts';
import { type Delivery, delivery, payload, payloadOfEvent } from './events-table.ts';
import type { HeaderPair, HookRequest } from './filters/request-view.ts';
import type { DeliveryRef } from './intake.ts';
import * as limits from './limits.ts';
import { unlessLost } from './lost-write.ts';

export const refKey = ({ eventId, connectionId, run }: DeliveryRef): string =>
  `${eventId} ${connectionId} ${run}`;
export const keyOf = ({ eventId, connectionId, run }: DeliveryRef) => ({ eventId, connectionId, run });

const open = is.oneOf(['pending', 'retrying'] as const);

// Mine until the lease ends; then it is due again by itself. The version is the fence of what I will write.
export const claimDelivery = (
  store: Store,
  ref: DeliveryRef,
  owner: string,
  nowMs: number,
): Promise<Delivery | undefined> =>
  unlessLost(
    store.update(
      delivery,
      keyOf(ref),
      { set: { owner, dueIn: dueShardOf(ref.eventId), dueAt: nowMs + limits.leaseMs } },
      {
        if: { state: open, dueIn: dueShardOf(ref.eventId), dueAt: is.atMost(nowMs) },
        pattern: 'claim delivery',
      },
    ),
  );

// Into the backlog of its connection: nobody tries it until the backlog is released.
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
        // Whoever has no lease of it may hold only what nobody else works on.
        if: { state: open, ...(ifVersion === undefined && { dueAt: is.atMost(nowMs) }) },
        ifVersion,
        pattern: 'hold delivery',
      },
    ),
  );

export const releaseDelivery = (
  store: Store,
  ref: DeliveryRef,
  nowMs: number,
): Promise<Delivery | undefined> =>
  unlessLost(
    store.update(
      delivery,
      keyOf(ref),
      { set: { dueIn: dueShardOf(ref.eventId), dueAt: nowMs } },
      { if: { state: open, dueIn: ref.connectionId }, pattern: 'release delivery' },
    ),
  );

// Sooner or later than its lease: for a claim that came to nothing.
export const postponeDelivery = (store: Store, claimed: Delivery, dueAt: number) =>
  unlessLost(
    store.update(
      delivery,
      keyOf(claimed),
      { set: { dueIn: dueShardOf(claimed.eventId), dueAt }, remove: ['owner'] },
      { ifVersion: claimed.version, pattern: 'postpone delivery' },
    ),
  );

// As it arrived, byte for byte.
export async function readRequest(store: Store, eventId: string): Promise<HookRequest | undefined> {
  const first = await store.get(payload, { eventId, part: 0 }, { consistent: true });
  if (!first) return undefined;
  const { method = 'POST', query = '' } = first;
  const headers = JSON.parse(first.headers ?? '[]') as HeaderPair[];
  if (first.parts === 1) return { method, query, headers, body: first.body ?? new Uint8Array() };
  const parts: Uint8Array[] = [];
  for await (const one of store.all(payloadOfEvent, { eventId })) parts.push(one.body ?? new Uint8Array());
  if (parts.length !== first.parts) return undefined; // its time is just ending
  return { method, query, headers, body: Buffer.concat(parts) };
}
