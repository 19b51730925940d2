import { done, type ItemOf, isConflict, write } from '@stak/table';
import { type Deps, retry, secondsNow } from '../deps.ts';
import { categoryNotFound, inboxErrors, inboxNotFound } from '../errors.ts';
import type { InboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { headSteps, liveOf, readHead } from '../publish/broadcasts.ts';
import { withoutCategory } from '../publish/categories.ts';
import { type Send, walkSends } from '../publish/send-records.ts';
import { redactUnseen } from '../sends/redaction.ts';
import { runSend } from '../sends/send-worker.ts';
import { readInbox } from '../settings.ts';
import { broadcast, categoryErasure, dueCategoryErasures, inboxCategories } from '../tables.ts';
import { type ErasureKind, finishedJob, isQuiet, leaseEnd, quietSince } from './erasure-job.ts';

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

export const categoryErasures: ErasureKind<CategoryId, CategoryErasure> = {
  what: 'a category',
  async *listDue({ store }, range, limit) {
    const due =
      limit === undefined
        ? store.all(dueCategoryErasures, { shard: 0 }, range)
        : (await store.query(dueCategoryErasures, { shard: 0 }, { ...range, limit })).items;
    for await (const { tenant_key, inbox_key, category } of due) yield { tenant_key, inbox_key, category };
  },
  read: ({ store }, key) => store.get(categoryErasure, key, { consistent: true }),
  update: ({ store }, key, guard, set) =>
    store.update(
      categoryErasure,
      key,
      { set: { ...set, shard: 0 } },
      { if: guard, pattern: 'erase a category' },
    ),
  async run(deps, key, job, signal) {
    const { category, ...inbox } = key;
    const { fence } = job;
    const { head } = await readHead(deps, inbox);
    if (!head?.deleting?.includes(category) || head.erasing) {
      await deps.store.delete(categoryErasure, key, { if: { fence } }); // the whole inbox was deleted
      return;
    }
    let current: CategoryErasure = job;
    let [looked, found, erased] = [0, 0, 0];
    const add = async (set: { dueat: number; quietat?: number }) => {
      const sum = current.erased + erased;
      current = await categoryErasures.update(deps, key, { fence }, { erased: sum, ...set });
      erased = 0;
    };
    for await (const one of walkSends(deps, inbox, { pageItems: limits.sendsTogether, consistent: true })) {
      if (signal?.aborted) return;
      if (one.taxonomy?.category === category && !closed.has(one.status)) {
        found += 1;
        if (await takeBack(deps, inbox, one.id)) erased += 1;
      }
      if (++looked % limits.sendsTogether === 0) await add({ dueat: leaseEnd(deps) });
    }
    if (found === 0 && isQuiet(deps, current)) return finish(deps, current);
    const quietat = quietSince(deps, current, found);
    await add({ quietat, dueat: quietat + limits.quietMs });
  },
};

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
    const others = (names: readonly string[] = []) => names.filter(name => name !== category);
    const live = liveOf(broadcasts, nowS);
    await store.transact(
      [
        ['job', write.update(categoryErasure, key, finishedJob(deps), { if: { fence } })],
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
