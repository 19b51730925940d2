import { failedStep, is, type Store, type WriteStep, write } from '@stak/table';
import type { Base } from './deps.ts';
import { dueShardOf } from './due.ts';
import { isFinished } from './event-status.ts';
import { type Delivery, delivery, place, placesOfConnection } from './events-table.ts';
import type { DeliveryRef } from './intake.ts';
import * as limits from './limits.ts';

// Ordered connections: their deliveries stand in line, and only the first one may be tried. The line lies in the
// table itself, because an index could show a place before the one in front of it.

type Step = readonly [string, WriteStep];

export async function readLine(store: Store, connectionId: string, limit: number = limits.lineItems) {
  const { items } = await store.query(placesOfConnection, { connectionId }, { limit });
  return items;
}

// Whether a claimed delivery is first. If not, it is put off, so that it does not come up again and again; whoever
// leaves the line calls the next one.
export async function isFirst(deps: Base, claimed: Delivery): Promise<boolean> {
  const { store, clock } = deps;
  const { eventId, connectionId, run } = claimed;
  for (;;) {
    const [first] = await readLine(store, connectionId);
    if (!first || first.queueId === claimed.queueId) return true;
    const ahead = await store.get(
      delivery,
      { eventId: first.eventId, connectionId, run: first.run },
      { consistent: true },
    );
    if (!ahead || isFinished(ahead.state)) {
      // It went without leaving the line, as when its event was erased.
      await store.delete(place, { connectionId, queueId: first.queueId });
      continue;
    }
    const dueAt = clock.now() + limits.lineWaitMs;
    const put = write.update(
      delivery,
      { eventId, connectionId, run },
      { set: { dueIn: dueShardOf(eventId), dueAt }, remove: ['owner'] },
      { ifVersion: claimed.version },
    );
    try {
      // Only while the one ahead stands there: it will look behind itself when it goes.
      const stands = write.check(place, { connectionId, queueId: first.queueId }, { present: true });
      await store.transact({ put, stands }, { pattern: 'stand in line' });
      return false;
    } catch (error) {
      const failure = failedStep(error);
      if (!failure) throw error;
      if (failure.step === 'put') return false; // somebody called it meanwhile
    }
  }
}

// Steps that take a finished delivery out of the line and call the next one.
export async function leaveLine(
  { store, clock }: Base,
  { connectionId, queueId }: Delivery,
): Promise<{ steps: Step[]; next?: DeliveryRef }> {
  const steps: Step[] = [['place', write.delete(place, { connectionId, queueId: queueId! })]];
  const line = await readLine(store, connectionId);
  const at = line.findIndex(one => one.queueId === queueId);
  if (at < 0) return { steps }; // far behind: who waits there, waits for others
  for (const one of line.slice(at + 1)) {
    const key = { eventId: one.eventId, connectionId, run: one.run };
    const waiting = await store.get(delivery, key, { consistent: true });
    if (!waiting || isFinished(waiting.state)) {
      steps.push([`place ${one.queueId}`, write.delete(place, { connectionId, queueId: one.queueId })]);
      continue;
    }
    steps.push([`next ${one.queueId}`, callStep(waiting, clock.now())]);
    return { steps, next: key };
  }
  return { steps };
}

// Nothing may happen to the next one between our looking at it and our leaving: it could go to wait for us.
function callStep({ eventId, connectionId, run, owner, dueIn, version }: Delivery, nowMs: number): WriteStep {
  const key = { eventId, connectionId, run };
  const isAwake = owner !== undefined || dueIn === connectionId;
  if (isAwake) return write.check(delivery, key, { present: true, if: { version: is.equalTo(version) } });
  return write.update(
    delivery,
    key,
    { set: { dueIn: dueShardOf(eventId), dueAt: nowMs } },
    { ifVersion: version },
  );
}
