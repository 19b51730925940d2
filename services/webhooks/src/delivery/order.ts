import { failedStep, is, type Store, type WriteStep, write } from '@stak/table';
import type { BaseDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { type Delivery, delivery, isFinished, orderEntry, orderOfConnection } from '../tables.ts';
import type { DeliveryRef } from './queue.ts';

// Deliveries of an ordered connection are attempted one after another. Their order is in the table itself, because an
// index could show an entry before the one ahead of it.

type Step = readonly [string, WriteStep];

export async function readOrder(store: Store, connectionId: string, limit: number = limits.orderItems) {
  const { items } = await store.query(orderOfConnection, { connectionId }, { limit });
  return items;
}

// Whether a claimed delivery is first. If not, it is postponed, so that it is not claimed again and again; the one ahead
// makes it due when it finishes.
export async function isFirstInOrder(deps: BaseDeps, claimed: Delivery): Promise<boolean> {
  const { store, clock, dueShards } = deps;
  const { eventId, connectionId, run } = claimed;
  for (;;) {
    const [first] = await readOrder(store, connectionId);
    if (!first || first.queueId === claimed.queueId) return true;
    const ahead = await store.get(
      delivery,
      { eventId: first.eventId, connectionId, run: first.run },
      { consistent: true },
    );
    if (!ahead || isFinished(ahead.state)) {
      // It finished without removing its entry, as when its event was erased.
      await store.delete(orderEntry, { connectionId, queueId: first.queueId });
      continue;
    }
    const dueAt = clock.now() + limits.orderWaitMs;
    const postpone = write.update(
      delivery,
      { eventId, connectionId, run },
      { set: { dueIn: dueShards.of(eventId), dueAt }, remove: ['owner'] },
      { ifVersion: claimed.version },
    );
    try {
      // Only while the entry ahead exists: its delivery makes the next one due when it finishes.
      const exists = write.check(orderEntry, { connectionId, queueId: first.queueId }, { present: true });
      await store.transact({ postpone, exists }, { pattern: 'wait in order' });
      return false;
    } catch (error) {
      const failure = failedStep(error);
      if (!failure) throw error;
      if (failure.step === 'postpone') return false; // it was changed meanwhile
    }
  }
}

// Steps that remove a finished delivery from the order and make the next one due.
export async function leaveOrder(
  deps: BaseDeps,
  { connectionId, queueId }: Delivery,
): Promise<{ steps: Step[]; next?: DeliveryRef }> {
  const { store } = deps;
  const steps: Step[] = [['order entry', write.delete(orderEntry, { connectionId, queueId: queueId! })]];
  const entries = await readOrder(store, connectionId);
  const at = entries.findIndex(one => one.queueId === queueId);
  if (at < 0) return { steps }; // far behind: the ones after it wait for others
  for (const one of entries.slice(at + 1)) {
    const key = { eventId: one.eventId, connectionId, run: one.run };
    const waiting = await store.get(delivery, key, { consistent: true });
    if (!waiting || isFinished(waiting.state)) {
      steps.push([
        `order entry ${one.queueId}`,
        write.delete(orderEntry, { connectionId, queueId: one.queueId }),
      ]);
      continue;
    }
    steps.push([`next ${one.queueId}`, makeDueStep(deps, waiting)]);
    return { steps, next: key };
  }
  return { steps };
}

// The next one must not change between our read and our write: it could postpone itself to wait for us.
function makeDueStep(
  { clock, dueShards }: BaseDeps,
  { eventId, connectionId, run, owner, dueIn, version }: Delivery,
): WriteStep {
  const key = { eventId, connectionId, run };
  const isQueued = owner !== undefined || dueIn === connectionId;
  if (isQueued) return write.check(delivery, key, { present: true, if: { version: is.equalTo(version) } });
  return write.update(
    delivery,
    key,
    { set: { dueIn: dueShards.of(eventId), dueAt: clock.now() } },
    { ifVersion: version },
  );
}
