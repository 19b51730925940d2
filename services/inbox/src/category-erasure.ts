import { type ItemOf, write } from '@stak/table';
import { headSteps, liveOf, readHead } from './broadcasts.ts';
import { withoutCategory } from './categories.ts';
import { type Service, secondsNow } from './deps.ts';
import { inboxErrors, noCategory, noInbox } from './errors.ts';
import * as limits from './limits.ts';
import type { Place } from './places.ts';
import { done, isLostRace, unlessLost, untilDone } from './race.ts';
import { redactUnseen } from './redaction.ts';
import { categoryErasure, dueCategoryErasures, sendsOfInbox } from './send-table.ts';
import { runSend } from './send-worker.ts';
import type { Send } from './sends.ts';
import { readInbox } from './settings.ts';
import { broadcast, inboxCategories } from './table.ts';

export type CategoryErasure = ItemOf<typeof categoryErasure>;
type CategoryPlace = Place & { category: string };

// Deletes a category with its messages. From this write on nobody sees them: the head that every reader reads says so,
// and nothing more is published there. The worker takes back what was sent; when nothing is left, the name is free.
export async function startCategoryErasure(
  service: Service,
  place: Place,
  category: string,
  by: string,
): Promise<CategoryErasure> {
  const { store, clock } = service;
  await readInbox(service, place);
  const started = await untilDone<CategoryErasure>(service, async () => {
    const known = await store.get(inboxCategories, place, { consistent: true });
    const deleting = known?.deleting ?? [];
    if (deleting.includes(category)) return done(await readCategoryErasure(service, place, category));
    if (!known?.categories.includes(category)) throw noCategory();
    if (deleting.length >= limits.categoriesErased)
      throw inboxErrors.create('inbox.deletions_busy', 'Other categories are being deleted; try again.', {
        retryAfterS: limits.quietMs / 1000,
      });
    const { head, broadcasts } = await readHead(service, place);
    if (head?.erasing) throw noInbox();
    const nowS = secondsNow(service);
    const seq = (head?.seq ?? 0) + 1;
    const live = liveOf(broadcasts, nowS).filter(one => one.category !== category);
    // Listeners that come back within a day read the list again; by then the messages have lines of their own.
    const line = { seq, id: service.ids.next(), category, expiredat: nowS + limits.dayS, redacts: 0 };
    const job = { ...place, category, by, startedat: nowS, erased: 0, status: 'erasing' as const };
    const { version, kind: _, ...categories } = known;
    await store.transact(
      [
        [
          'categories',
          write.put(
            inboxCategories,
            { ...categories, deleting: [...deleting, category] },
            { ifVersion: version },
          ),
        ],
        ['job', write.put(categoryErasure, { ...job, shard: 0, dueat: clock.now() })],
        ['line', write.put(broadcast, { ...place, ...line, hides: true }, { ifAbsent: true })],
        ...headSteps(service, place, head, { seq, deleting: [...(head?.deleting ?? []), category] }, live),
      ],
      { pattern: 'delete a category' },
    );
    return done(await readCategoryErasure(service, place, category));
  });
  service.due.ring();
  return started;
}

export async function readCategoryErasure(
  { store }: Service,
  place: Place,
  category: string,
): Promise<CategoryErasure> {
  const found = await store.get(categoryErasure, { ...place, category }, { consistent: true });
  if (!found) throw inboxErrors.create('inbox.erasure_not_found', 'The category is not being deleted.');
  return found;
}

// The worker's part. A job is leased like a send: a worker that lost its lease writes nothing.
export async function runCategoryErasures(service: Service, signal?: AbortSignal): Promise<void> {
  const to = { dueat: service.clock.now() };
  const due = await service.store.query(dueCategoryErasures, { shard: 0 }, { to, limit: limits.dueSends });
  for (const { tenant_key, inbox_key, category } of due.items) {
    if (signal?.aborted) return;
    const place = { tenant_key, inbox_key, category };
    await runCategoryErasure(service, place, signal).catch(error => {
      if (!isLostRace(error))
        service.log.error({ err: error, ...place }, 'a category could not be deleted further');
    });
  }
}

export async function releaseGoneCategoryErasures(service: Service): Promise<void> {
  const { store, clock, owners } = service;
  const nowMs = clock.now();
  const range = { after: { dueat: nowMs }, to: { dueat: nowMs + limits.leaseMs } };
  for await (const { tenant_key, inbox_key, category } of store.all(
    dueCategoryErasures,
    { shard: 0 },
    range,
  )) {
    const key = { tenant_key, inbox_key, category };
    const fence = (await store.get(categoryErasure, key, { consistent: true }))?.fence;
    if (fence !== undefined && (await owners.isGone(fence)))
      await note(service, key, { fence }, { dueat: nowMs }).catch(unlessLost);
  }
}

async function runCategoryErasure(service: Service, key: CategoryPlace, signal?: AbortSignal): Promise<void> {
  const { store, clock, owners } = service;
  const { category, ...place } = key;
  const job = await store.get(categoryErasure, key, { consistent: true });
  if (job?.dueat === undefined || job.dueat > clock.now()) return;
  const fence = owners.next();
  const leased = () => clock.now() + limits.leaseMs;
  let held = await note(service, key, { dueat: job.dueat }, { fence, dueat: leased() });
  const { head } = await readHead(service, place);
  if (!head?.deleting?.includes(category) || head.erasing) {
    await store.delete(categoryErasure, key, { if: { fence } }); // the whole inbox was deleted
    return;
  }
  let [looked, found, erased] = [0, 0, 0];
  for await (const one of store.all(sendsOfInbox, place, { consistent: true })) {
    if (signal?.aborted) return;
    if (one.taxonomy?.category === category && !closed.has(one.status)) {
      found += 1;
      if (await takeBack(service, place, one.id)) erased += 1;
    }
    if (++looked % limits.sendsTogether > 0) continue;
    held = await note(service, key, { fence }, { erased: held.erased + erased, dueat: leased() });
    erased = 0;
  }
  const isQuiet = held.quietat !== undefined && clock.now() >= held.quietat + limits.quietMs;
  if (found === 0 && isQuiet) return finish(service, held);
  // What was under way when the category was deleted is in the table by then, and taken back as well.
  const quietat = found > 0 ? clock.now() : (held.quietat ?? clock.now());
  const dueat = quietat + limits.quietMs;
  await note(service, key, { fence }, { erased: held.erased + erased, quietat, dueat });
}

const closed: ReadonlySet<Send['status']> = new Set(['redacted', 'cancelled']);

// False if another worker is at it.
async function takeBack(service: Service, place: Place, id: string): Promise<boolean> {
  try {
    if (await redactUnseen(service, place, id)) await runSend(service, place, id);
    return true;
  } catch (error) {
    if (isLostRace(error)) return false;
    if (inboxErrors.includes(error) && error.code === 'inbox.send_not_found') return true; // it has just expired
    throw error;
  }
}

const note = (
  { store }: Service,
  key: CategoryPlace,
  guard: { dueat?: number; fence?: string },
  set: Partial<Pick<CategoryErasure, 'fence' | 'dueat' | 'erased' | 'quietat'>>,
): Promise<CategoryErasure> =>
  store.update(
    categoryErasure,
    key,
    { set: { ...set, shard: 0 } },
    { if: guard, pattern: 'erase a category' },
  );

const finish = (service: Service, { tenant_key, inbox_key, category, fence }: CategoryErasure) =>
  untilDone<void>(service, async () => {
    const { store } = service;
    const place = { tenant_key, inbox_key };
    const key = { ...place, category };
    if ((await store.get(categoryErasure, key, { consistent: true }))?.fence !== fence)
      return done(undefined);
    const known = await store.get(inboxCategories, place, { consistent: true });
    const { head, broadcasts } = await readHead(service, place);
    const nowS = secondsNow(service);
    const set = { status: 'erased', finishedat: nowS, expiredat: nowS + limits.erasureKeptS } as const;
    const remove = ['shard', 'dueat', 'fence', 'quietat'] as const;
    const others = (names: readonly string[] = []) => names.filter(one => one !== category);
    const live = liveOf(broadcasts, nowS);
    await store.transact(
      [
        ['job', write.update(categoryErasure, key, { set, remove }, { if: { fence } })],
        ...(known ? [withoutCategory(known, category)] : []),
        ...headSteps(service, place, head, { deleting: others(head?.deleting) }, live),
      ],
      { pattern: 'erase a category' },
    );
    return done(undefined);
  });

export const showCategoryErasure = ({
  category,
  status,
  erased,
  startedat,
  finishedat,
}: CategoryErasure) => ({ category, status, erased, startedat, finishedat: finishedat ?? null });
