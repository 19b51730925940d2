import { type WriteStep, write } from '@stak/table';
import { broadcastSteps } from './broadcasts.ts';
import { deliverySteps } from './delivery.ts';
import type { Service } from './deps.ts';
import { categoryGoes, inboxErrors, noSend } from './errors.ts';
import * as limits from './limits.ts';
import type { Place } from './places.ts';
import { roomFor } from './publish.ts';
import { done, isLostRace, unlessLost, untilDone } from './race.ts';
import { erasedRecipient } from './recipients.ts';
import { cancelSteps, removeCopies } from './redaction.ts';
import { dueSends, send } from './send-table.ts';
import { audienceOf, readSend, type Send, type SendContent } from './sends.ts';
import { readPolicies } from './settings.ts';

// Answers how many sends it has looked at.
export async function runDue(service: Service, signal?: AbortSignal): Promise<number> {
  const { store, clock, log } = service;
  let looked = 0;
  for (let shard = 0; shard < limits.dueShards; shard++) {
    const to = { dueat: clock.now() };
    const { items } = await store.query(dueSends, { shard }, { to, limit: limits.dueSends });
    for (const { tenant_key, inbox_key, id } of items) {
      if (signal?.aborted) return looked;
      looked += 1;
      await runSend(service, { tenant_key, inbox_key }, id).catch(error => {
        // It stays due: when its lease is over it is tried again.
        if (!isLostRace(error) && !noLonger(error))
          log.error({ err: error, tenant_key, inbox_key, send: id }, 'a send could not be carried on');
      });
    }
  }
  return looked;
}

// The inbox was deleted, or the category is being deleted: the deletion takes the send back.
const givenUp = new Set(['inbox.send_not_found', 'inbox.not_found', 'inbox.category_being_deleted']);
const noLonger = (error: unknown): boolean => inboxErrors.includes(error) && givenUp.has(error.code);

export async function runSend(service: Service, place: Place, id: string): Promise<void> {
  const found = await readSend(service, place, id);
  if (found.dueat === undefined || found.dueat > service.clock.now()) return;
  const held = await hold(service, found, { dueat: found.dueat });
  if (held.status === 'redacting')
    return removeCopies(service, held, removed => hold(service, held, { fence: held.fence }, { removed }));
  const { message } = held;
  if (!message) return;
  if (held.audiences.kind === 'everyone') return broadcastNow(service, { ...held, message });
  return deliver(service, place, { ...held, message });
}

// Makes due now what a dead process had, instead of when its lease ends. The index does not say who has what, so all
// that becomes due within a lease is looked at.
export async function releaseGoneSends(service: Service): Promise<void> {
  const { store, clock, owners } = service;
  const nowMs = clock.now();
  const range = { after: { dueat: nowMs }, to: { dueat: nowMs + limits.leaseMs } };
  for (let shard = 0; shard < limits.dueShards; shard++)
    for await (const found of store.all(dueSends, { shard }, range)) {
      const fence = (await store.get(send, keyOf(found), { consistent: true }))?.fence;
      if (fence === undefined || !(await owners.isGone(fence))) continue;
      const change = { set: { dueat: nowMs, shard }, remove: ['fence'] as const };
      // On the condition that the dead one still has it: other processes are doing the same.
      await store
        .update(send, keyOf(found), change, { if: { fence }, pattern: 'take over a send' })
        .catch(unlessLost);
    }
}

// Takes a send, or keeps it, for as long as the lease.
function hold(
  { store, clock, owners }: Service,
  current: Send,
  guard: { dueat?: number; fence?: string },
  progress: { removed?: number } = {},
): Promise<Send> {
  const { shard } = current;
  const fence = guard.fence ?? owners.next();
  const set = { dueat: clock.now() + limits.leaseMs, shard, fence, ...progress };
  return store.update(send, keyOf(current), { set }, { if: guard, pattern: 'hold a send' });
}

const keyOf = ({ tenant_key, inbox_key, id }: Place & { id: string }) => ({ tenant_key, inbox_key, id });

const finished = { remove: ['message', 'shard', 'dueat', 'fence'] as const };

type Held = Send & SendContent;

const isHeld = ({ status, fence }: Held) => ({ if: { status, fence } });

const broadcastNow = (service: Service, held: Held): Promise<void> =>
  untilDone<void>(service, async () => {
    const { sent, steps } = await broadcastSteps(service, held);
    const change = { set: { status: 'sent', ...sent } as const, ...finished };
    await transactHeld(service, held, write.update(send, keyOf(held), change, isHeld(held)), steps);
    return done(undefined);
  });

// Each step delivers to a few more, and notes how many have it by now: that is where the next one begins.
async function deliver(service: Service, place: Place, first: Held): Promise<void> {
  const uids = await audienceOf(service, first);
  const { config, deleting } = await readPolicies(service, place);
  const { category } = first.taxonomy ?? {};
  if (category !== undefined && deleting.includes(category)) throw categoryGoes();
  const together = Math.min(service.recipientsTogether, roomFor(first.message));
  for (let held = first; held.status !== 'sent'; ) {
    if (held.expiredat * 1000 <= service.clock.now()) throw noSend();
    const current = held;
    held = await untilDone<Held>(service, async () => {
      const some = uids.slice(current.delivered, current.delivered + together);
      const delivered = current.delivered + some.length;
      const isLast = delivered >= uids.length;
      const present = some.filter(uid => uid !== erasedRecipient);
      const steps = await deliverySteps(service, current, present, config);
      const progress = isLast
        ? { set: { status: 'sent', delivered } as const, ...finished }
        : {
            set: {
              status: 'delivering',
              delivered,
              shard: current.shard,
              dueat: service.clock.now() + limits.leaseMs,
            } as const,
          };
      const noted = write.update(send, keyOf(current), progress, isHeld(current));
      await transactHeld(service, current, noted, steps);
      return done({ ...current, delivered, status: isLast ? 'sent' : 'delivering' });
    });
  }
}

// Losing a race about a recipient means to look again; losing the send itself means to stop.
async function transactHeld(
  service: Service,
  held: Held,
  noted: WriteStep,
  steps: Awaited<ReturnType<typeof deliverySteps>>,
): Promise<void> {
  try {
    await service.store.transact([['send', noted], ...steps], { pattern: 'carry on a send' });
  } catch (error) {
    const { tenant_key, inbox_key, id } = held;
    const now = await readSend(service, { tenant_key, inbox_key }, id);
    if (now.fence !== held.fence || now.status !== held.status || now.delivered !== held.delivered)
      throw noSend();
    throw error;
  }
}

export async function cancelScheduled(service: Service, place: Place, id: string): Promise<void> {
  await untilDone<void>(service, async () => {
    const found = await readSend(service, place, id);
    if (found.status === 'cancelled') return done(undefined);
    if (found.status !== 'scheduled')
      throw inboxErrors.create('inbox.already_sent', 'It has been sent. It can be redacted.');
    await service.store.transact(await cancelSteps(service, found), { pattern: 'cancel a send' });
    return done(undefined);
  });
}
