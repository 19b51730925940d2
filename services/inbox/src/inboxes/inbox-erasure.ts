import { done, type ItemOf, ignoreConflict, isConflict, write } from '@stak/table';
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
import { eraseSome } from './eraser.ts';

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

// Run by the worker. A job is leased like a send: a worker that lost its lease writes nothing.
export async function runErasures(deps: Deps, signal?: AbortSignal): Promise<void> {
  const to = { dueat: deps.clock.now() };
  const { items } = await deps.store.query(dueErasures, { shard: 0 }, { to, limit: limits.dueSends });
  for (const { tenant_key, inbox_key } of items) {
    if (signal?.aborted) return;
    await runErasure(deps, { tenant_key, inbox_key }, signal).catch(error => {
      if (!isConflict(error))
        deps.log.error({ err: error, tenant_key, inbox_key }, 'could not continue erasing an inbox');
    });
  }
}

export async function releaseGoneErasures(deps: Deps): Promise<void> {
  const { store, clock, owners } = deps;
  const nowMs = clock.now();
  const range = { after: { dueat: nowMs }, to: { dueat: nowMs + limits.leaseMs } };
  for await (const { tenant_key, inbox_key } of store.all(dueErasures, { shard: 0 }, range)) {
    const inbox = { tenant_key, inbox_key };
    const fence = (await store.get(inboxErasure, inbox, { consistent: true }))?.fence;
    if (fence !== undefined && (await owners.isGone(fence)))
      await updateJob(deps, inbox, { fence }, { dueat: nowMs }).catch(ignoreConflict);
  }
}

async function runErasure(deps: Deps, inbox: InboxId, signal?: AbortSignal): Promise<void> {
  const { store, clock, owners } = deps;
  const found = await store.get(inboxErasure, inbox, { consistent: true });
  if (found?.dueat === undefined || found.dueat > clock.now()) return;
  const fence = owners.next();
  let job = await updateJob(
    deps,
    inbox,
    { dueat: found.dueat },
    { fence, dueat: clock.now() + limits.leaseMs },
  );
  while (!signal?.aborted) {
    const erased = await eraseSome(deps, inbox);
    const isQuiet = job.quietat !== undefined && clock.now() >= job.quietat + limits.quietMs;
    if (erased === 0 && isQuiet) return finish(deps, inbox, job);
    // Requests that were running when the inbox was deleted have written by then, and that is removed too.
    const quietat = erased > 0 ? clock.now() : (job.quietat ?? clock.now());
    const dueat = erased > 0 ? clock.now() + limits.leaseMs : quietat + limits.quietMs;
    job = await updateJob(deps, inbox, { fence }, { erased: job.erased + erased, quietat, dueat });
    if (erased === 0) return;
  }
}

const updateJob = (
  { store }: Deps,
  inbox: InboxId,
  guard: { dueat?: number; fence?: string },
  set: Partial<Pick<InboxErasure, 'fence' | 'dueat' | 'erased' | 'quietat'>>,
): Promise<InboxErasure> =>
  store.update(inboxErasure, inbox, { set: { ...set, shard: 0 } }, { if: guard, pattern: 'erase an inbox' });

async function finish({ store, clock }: Deps, inbox: InboxId, { fence }: InboxErasure): Promise<void> {
  const nowS = Math.floor(clock.now() / 1000);
  const set = { status: 'erased', finishedat: nowS, expiredat: nowS + limits.erasureKeptS } as const;
  const remove = ['shard', 'dueat', 'fence', 'quietat'] as const;
  await store.transact(
    [
      ['job', write.update(inboxErasure, inbox, { set, remove }, { if: { fence } })],
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
