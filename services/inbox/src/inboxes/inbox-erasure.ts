import { done, type ItemOf, write } from '@stak/table';
import { type Deps, retry, secondsNow } from '../deps.ts';
import { inboxErrors, inboxNotFound } from '../errors.ts';
import type { InboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { headSteps, liveOf, readHead } from '../publish/broadcasts.ts';
import {
  dueErasures,
  inboxCategories,
  inboxConfig,
  inboxErasure,
  memberTotal,
  publicStats,
} from '../tables.ts';
import { eraseSome } from './erasure.ts';
import { type ErasureKind, finishedJob, isQuiet, leaseEnd, quietSince } from './erasure-job.ts';

export type InboxErasure = ItemOf<typeof inboxErasure>;

// Deletes an inbox and everything in it. This write hides it from everyone, because every reader reads its
// configuration or the head of its broadcasts. The worker then removes the contents in small steps, and those two last.
export const startErasure = async (deps: Deps, inbox: InboxId, by: string): Promise<InboxErasure> => {
  const { store, clock } = deps;
  const started = await retry<InboxErasure>(deps, async () => {
    const config = await store.get(inboxConfig, inbox, { consistent: true });
    if (!config) throw inboxNotFound();
    if (config.erasing) return done(await readErasure(deps, inbox));
    const { head, broadcasts } = await readHead(deps, inbox);
    const job = { ...inbox, by, startedat: secondsNow(deps), erased: 0, status: 'erasing' as const };
    const live = liveOf(broadcasts, secondsNow(deps));
    await store.transact(
      [
        ['config', write.put(inboxConfig, { ...config, erasing: true }, { ifVersion: config.version })],
        ['job', write.put(inboxErasure, { ...job, shard: 0, dueat: clock.now() })],
        ...headSteps(deps, inbox, head, { erasing: true }, live),
      ],
      { pattern: 'delete an inbox' },
    );
    return done(await readErasure(deps, inbox));
  });
  deps.due.notify();
  return started;
};

export async function readErasure({ store }: Deps, inbox: InboxId): Promise<InboxErasure> {
  const found = await store.get(inboxErasure, inbox, { consistent: true });
  if (!found) throw inboxErrors.create('inbox.erasure_not_found', 'This inbox is not being deleted.');
  return found;
}

export const inboxErasures: ErasureKind<InboxId, InboxErasure> = {
  what: 'an inbox',
  async *listDue({ store }, range, limit) {
    const due =
      limit === undefined
        ? store.all(dueErasures, { shard: 0 }, range)
        : (await store.query(dueErasures, { shard: 0 }, { ...range, limit })).items;
    for await (const { tenant_key, inbox_key } of due) yield { tenant_key, inbox_key };
  },
  read: ({ store }, inbox) => store.get(inboxErasure, inbox, { consistent: true }),
  update: ({ store }, inbox, guard, set) =>
    store.update(
      inboxErasure,
      inbox,
      { set: { ...set, shard: 0 } },
      { if: guard, pattern: 'erase an inbox' },
    ),
  async run(deps, inbox, job, signal) {
    const { fence } = job;
    let current: InboxErasure = job;
    while (!signal?.aborted) {
      const erased = await eraseSome(deps, inbox);
      if (erased === 0 && isQuiet(deps, current)) return finish(deps, inbox, fence);
      const quietat = quietSince(deps, current, erased);
      const dueat = erased > 0 ? leaseEnd(deps) : quietat + limits.quietMs;
      const set = { erased: current.erased + erased, quietat, dueat };
      current = await inboxErasures.update(deps, inbox, { fence }, set);
      if (erased === 0) return;
    }
  },
};

async function finish(deps: Deps, inbox: InboxId, fence: string): Promise<void> {
  await deps.store.transact(
    [
      ['job', write.update(inboxErasure, inbox, finishedJob(deps), { if: { fence } })],
      ['config', write.delete(inboxConfig, inbox)],
      ['head', write.delete(publicStats, inbox)],
      ['members', write.delete(memberTotal, inbox)],
      ['categories', write.delete(inboxCategories, inbox)],
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
