import { type ItemOf, write } from '@stak/table';
import { headSteps, liveOf, readHead } from './broadcasts.ts';
import { type Service, secondsNow } from './deps.ts';
import { eraseSome } from './eraser.ts';
import { inboxErrors, noInbox } from './errors.ts';
import * as limits from './limits.ts';
import type { Place } from './places.ts';
import { done, isLostRace, unlessLost, untilDone } from './race.ts';
import { dueErasures, inboxErasure, memberTotal } from './send-table.ts';
import { inboxCategories, inboxConfig, publicStats } from './table.ts';

export type InboxErasure = ItemOf<typeof inboxErasure>;

// Deletes an inbox with everything in it. From this write on it is missing for everyone: its configuration and the head
// that every reader reads say so. The worker removes what is in it, some of it at a time, and at last those two.
export const startErasure = async (service: Service, place: Place, by: string): Promise<InboxErasure> => {
  const { store, clock } = service;
  const started = await untilDone<InboxErasure>(service, async () => {
    const config = await store.get(inboxConfig, place, { consistent: true });
    if (!config) throw noInbox();
    if (config.erasing) return done(await readErasure(service, place));
    const { head, broadcasts } = await readHead(service, place);
    const job = { ...place, by, startedat: secondsNow(service), erased: 0, status: 'erasing' as const };
    const live = liveOf(broadcasts, secondsNow(service));
    await store.transact(
      [
        ['config', write.put(inboxConfig, { ...config, erasing: true }, { ifVersion: config.version })],
        ['job', write.put(inboxErasure, { ...job, shard: 0, dueat: clock.now() })],
        ...headSteps(service, place, head, { erasing: true }, live),
      ],
      { pattern: 'delete an inbox' },
    );
    return done(await readErasure(service, place));
  });
  service.due.ring();
  return started;
};

export async function readErasure({ store }: Service, place: Place): Promise<InboxErasure> {
  const found = await store.get(inboxErasure, place, { consistent: true });
  if (!found) throw inboxErrors.create('inbox.erasure_not_found', 'The inbox is not being deleted.');
  return found;
}

// The worker's part. A job is leased like a send: a worker that lost its lease writes nothing.
export async function runErasures(service: Service, signal?: AbortSignal): Promise<void> {
  const to = { dueat: service.clock.now() };
  const { items } = await service.store.query(dueErasures, { shard: 0 }, { to, limit: limits.dueSends });
  for (const { tenant_key, inbox_key } of items) {
    if (signal?.aborted) return;
    await runErasure(service, { tenant_key, inbox_key }, signal).catch(error => {
      if (!isLostRace(error))
        service.log.error({ err: error, tenant_key, inbox_key }, 'an inbox could not be erased further');
    });
  }
}

export async function releaseGoneErasures(service: Service): Promise<void> {
  const { store, clock, owners } = service;
  const nowMs = clock.now();
  const range = { after: { dueat: nowMs }, to: { dueat: nowMs + limits.leaseMs } };
  for await (const { tenant_key, inbox_key } of store.all(dueErasures, { shard: 0 }, range)) {
    const place = { tenant_key, inbox_key };
    const fence = (await store.get(inboxErasure, place, { consistent: true }))?.fence;
    if (fence !== undefined && (await owners.isGone(fence)))
      await note(service, place, { fence }, { dueat: nowMs }).catch(unlessLost);
  }
}

async function runErasure(service: Service, place: Place, signal?: AbortSignal): Promise<void> {
  const { store, clock, owners } = service;
  const found = await store.get(inboxErasure, place, { consistent: true });
  if (found?.dueat === undefined || found.dueat > clock.now()) return;
  const fence = owners.next();
  let held = await note(
    service,
    place,
    { dueat: found.dueat },
    { fence, dueat: clock.now() + limits.leaseMs },
  );
  while (!signal?.aborted) {
    const erased = await eraseSome(service, place);
    const isQuiet = held.quietat !== undefined && clock.now() >= held.quietat + limits.quietMs;
    if (erased === 0 && isQuiet) return finish(service, place, held);
    // Whatever was under way when the inbox was deleted is in the table by then, and removed as well.
    const quietat = erased > 0 ? clock.now() : (held.quietat ?? clock.now());
    const dueat = erased > 0 ? clock.now() + limits.leaseMs : quietat + limits.quietMs;
    held = await note(service, place, { fence }, { erased: held.erased + erased, quietat, dueat });
    if (erased === 0) return;
  }
}

const note = (
  { store }: Service,
  place: Place,
  guard: { dueat?: number; fence?: string },
  set: Partial<Pick<InboxErasure, 'fence' | 'dueat' | 'erased' | 'quietat'>>,
): Promise<InboxErasure> =>
  store.update(inboxErasure, place, { set: { ...set, shard: 0 } }, { if: guard, pattern: 'erase an inbox' });

async function finish({ store, clock }: Service, place: Place, { fence }: InboxErasure): Promise<void> {
  const nowS = Math.floor(clock.now() / 1000);
  const set = { status: 'erased', finishedat: nowS, expiredat: nowS + limits.erasureKeptS } as const;
  const remove = ['shard', 'dueat', 'fence', 'quietat'] as const;
  await store.transact(
    [
      ['job', write.update(inboxErasure, place, { set, remove }, { if: { fence } })],
      ['config', write.delete(inboxConfig, place)],
      ['head', write.delete(publicStats, place)],
      ['members', write.delete(memberTotal, place)],
      ['categories', write.delete(inboxCategories, place)],
    ],
    { pattern: 'erase an inbox' },
  );
}

export const showErasure = ({ inbox_key, status, erased, startedat, finishedat }: InboxErasure) => ({
  inbox_key,
  status,
  erased,
  startedat,
  finishedat: finishedat ?? null,
});
