import { done, type ItemOf, ignoreConflict, isConflict, write } from '@stak/table';
import { type Deps, retry, secondsNow } from '../deps.ts';
import { categoryNotFound, inboxErrors, inboxNotFound } from '../errors.ts';
import type { InboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { headSteps, liveOf, readHead } from '../publish/broadcasts.ts';
import { type Send, walkSends } from '../publish/send-records.ts';
import { redactUnseen } from '../sends/redaction.ts';
import { runSend } from '../sends/send-worker.ts';
import { broadcast, categoryErasure, dueCategoryErasures, inboxCategories } from '../tables.ts';
import { withoutCategory } from './categories.ts';
import { readInbox } from './settings.ts';

export type CategoryErasure = ItemOf<typeof categoryErasure>;
type CategoryId = InboxId & { category: string };

// Deletes a category and its messages. This write hides them from everyone, because every reader reads the head, and
// stops publishing in the category. The worker redacts the sends; when none is left, the name is free again.
export async function startCategoryErasure(
  deps: Deps,
  inbox: InboxId,
  category: string,
  by: string,
): Promise<CategoryErasure> {
  const { store, clock } = deps;
  await readInbox(deps, inbox);
  const started = await retry<CategoryErasure>(deps, async () => {
    const known = await store.get(inboxCategories, inbox, { consistent: true });
    const deleting = known?.deleting ?? [];
    if (deleting.includes(category)) return done(await readCategoryErasure(deps, inbox, category));
    if (!known?.categories.includes(category)) throw categoryNotFound();
    if (deleting.length >= limits.categoriesErased)
      throw inboxErrors.create(
        'inbox.deletions_busy',
        'Other categories are being deleted; try again later.',
        {
          retryAfterS: limits.quietMs / 1000,
        },
      );
    const { head, broadcasts } = await readHead(deps, inbox);
    if (head?.erasing) throw inboxNotFound();
    const nowS = secondsNow(deps);
    const seq = (head?.seq ?? 0) + 1;
    const live = liveOf(broadcasts, nowS).filter(one => one.category !== category);
    // Clients that reconnect within a day list the messages again. After that, each message has an entry of its own.
    const line = { seq, id: deps.ids.next(), category, expiredat: nowS + limits.dayS, redacts: 0 };
    const job = { ...inbox, category, by, startedat: nowS, erased: 0, status: 'erasing' as const };
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
        ['line', write.put(broadcast, { ...inbox, ...line, hides: true }, { ifAbsent: true })],
        ...headSteps(deps, inbox, head, { seq, deleting: [...(head?.deleting ?? []), category] }, live),
      ],
      { pattern: 'delete a category' },
    );
    return done(await readCategoryErasure(deps, inbox, category));
  });
  deps.due.notify();
  return started;
}

export async function readCategoryErasure(
  { store }: Deps,
  inbox: InboxId,
  category: string,
): Promise<CategoryErasure> {
  const found = await store.get(categoryErasure, { ...inbox, category }, { consistent: true });
  if (!found) throw inboxErrors.create('inbox.erasure_not_found', 'This category is not being deleted.');
  return found;
}

// Run by the worker. A job is leased like a send: a worker that lost its lease writes nothing.
export async function runCategoryErasures(deps: Deps, signal?: AbortSignal): Promise<void> {
  const to = { dueat: deps.clock.now() };
  const due = await deps.store.query(dueCategoryErasures, { shard: 0 }, { to, limit: limits.dueSends });
  for (const { tenant_key, inbox_key, category } of due.items) {
    if (signal?.aborted) return;
    const inbox = { tenant_key, inbox_key, category };
    await runCategoryErasure(deps, inbox, signal).catch(error => {
      if (!isConflict(error))
        deps.log.error({ err: error, ...inbox }, 'could not continue deleting a category');
    });
  }
}

export async function releaseGoneCategoryErasures(deps: Deps): Promise<void> {
  const { store, clock, owners } = deps;
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
      await updateJob(deps, key, { fence }, { dueat: nowMs }).catch(ignoreConflict);
  }
}

async function runCategoryErasure(deps: Deps, key: CategoryId, signal?: AbortSignal): Promise<void> {
  const { store, clock, owners } = deps;
  const { category, ...inbox } = key;
  const job = await store.get(categoryErasure, key, { consistent: true });
  if (job?.dueat === undefined || job.dueat > clock.now()) return;
  const fence = owners.next();
  const leased = () => clock.now() + limits.leaseMs;
  let leasedJob = await updateJob(deps, key, { dueat: job.dueat }, { fence, dueat: leased() });
  const { head } = await readHead(deps, inbox);
  if (!head?.deleting?.includes(category) || head.erasing) {
    await store.delete(categoryErasure, key, { if: { fence } }); // the whole inbox was deleted
    return;
  }
  let [looked, found, erased] = [0, 0, 0];
  for await (const one of walkSends(deps, inbox, { pageItems: limits.sendsTogether, consistent: true })) {
    if (signal?.aborted) return;
    if (one.taxonomy?.category === category && !closed.has(one.status)) {
      found += 1;
      if (await takeBack(deps, inbox, one.id)) erased += 1;
    }
    if (++looked % limits.sendsTogether > 0) continue;
    leasedJob = await updateJob(deps, key, { fence }, { erased: leasedJob.erased + erased, dueat: leased() });
    erased = 0;
  }
  const isQuiet = leasedJob.quietat !== undefined && clock.now() >= leasedJob.quietat + limits.quietMs;
  if (found === 0 && isQuiet) return finish(deps, leasedJob);
  // Requests that were running when the category was deleted have written by then, and that is redacted too.
  const quietat = found > 0 ? clock.now() : (leasedJob.quietat ?? clock.now());
  const dueat = quietat + limits.quietMs;
  await updateJob(deps, key, { fence }, { erased: leasedJob.erased + erased, quietat, dueat });
}

const closed: ReadonlySet<Send['status']> = new Set(['redacted', 'cancelled']);

// False if another worker has the send.
async function takeBack(deps: Deps, inbox: InboxId, id: string): Promise<boolean> {
  try {
    if (await redactUnseen(deps, inbox, id)) await runSend(deps, inbox, id);
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    if (inboxErrors.includes(error) && error.code === 'inbox.send_not_found') return true; // it has just expired
    throw error;
  }
}

const updateJob = (
  { store }: Deps,
  key: CategoryId,
  guard: { dueat?: number; fence?: string },
  set: Partial<Pick<CategoryErasure, 'fence' | 'dueat' | 'erased' | 'quietat'>>,
): Promise<CategoryErasure> =>
  store.update(
    categoryErasure,
    key,
    { set: { ...set, shard: 0 } },
    { if: guard, pattern: 'erase a category' },
  );

const finish = (deps: Deps, { tenant_key, inbox_key, category, fence }: CategoryErasure) =>
  retry<void>(deps, async () => {
    const { store } = deps;
    const inbox = { tenant_key, inbox_key };
    const key = { ...inbox, category };
    if ((await store.get(categoryErasure, key, { consistent: true }))?.fence !== fence)
      return done(undefined);
    const known = await store.get(inboxCategories, inbox, { consistent: true });
    const { head, broadcasts } = await readHead(deps, inbox);
    const nowS = secondsNow(deps);
    const set = { status: 'erased', finishedat: nowS, expiredat: nowS + limits.erasureKeptS } as const;
    const remove = ['shard', 'dueat', 'fence', 'quietat'] as const;
    const others = (names: readonly string[] = []) => names.filter(one => one !== category);
    const live = liveOf(broadcasts, nowS);
    await store.transact(
      [
        ['job', write.update(categoryErasure, key, { set, remove }, { if: { fence } })],
        ...(known ? [withoutCategory(known, category)] : []),
        ...headSteps(deps, inbox, head, { deleting: others(head?.deleting) }, live),
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
