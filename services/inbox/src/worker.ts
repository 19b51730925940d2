import { sharedPollMs, type Worker, watchGone } from '@stak/kit';
import type { Deps } from './deps.ts';
import { categoryErasures } from './inboxes/category-erasure.ts';
import { releaseGoneErasures, runDueErasures } from './inboxes/erasure-job.ts';
import { inboxErasures } from './inboxes/inbox-erasure.ts';
import * as limits from './limits.ts';
import { releaseGoneSends, runDue } from './sends/send-worker.ts';
import { dueCategoryErasures, dueErasures, dueSends } from './tables.ts';

const name = 'inbox sends';

// Does the work that is due: scheduled messages, long lists of recipients, their redactions, and deletions. A send or a
// job is leased by moving its due time ahead. Every step is written on the condition that the lease still holds, so a
// worker that lost it changes nothing.
export const createWorker = (deps: Deps): Worker => ({
  name,
  async run(signal) {
    const gone = watchGone(deps.owners, deps.due.notify);
    let isDue = true;
    try {
      while (!signal.aborted) {
        await gone.check(async () => {
          await releaseGoneSends(deps);
          await releaseGoneErasures(deps, inboxErasures);
          await releaseGoneErasures(deps, categoryErasures);
        });
        if (isDue) await runAll(deps, signal);
        const mostMs: number = isDue ? limits.pollMs : sharedPollMs(deps.owners, name, limits.pollMs);
        const nextMs = await untilNext(deps, mostMs);
        // A late index shows for a moment what this process has just done.
        const waitMs = Math.max(isDue ? limits.pollLeastMs : 0, nextMs);
        const endsMs = deps.clock.now() + waitMs;
        await deps.due.wait(waitMs, signal);
        const isWoken = deps.clock.now() < endsMs;
        isDue = isWoken || nextMs < mostMs;
      }
    } finally {
      gone.stop();
    }
  },
});

// How long until something is due, at most until the next look. Work that this process schedules wakes the worker, and
// other processes do theirs, so a look a few times a minute finds what a dead process left. Each look is billed, so
// while nothing is due there is only this one.
async function untilNext({ store, clock }: Deps, mostMs: number): Promise<number> {
  const first = { to: { dueat: clock.now() + mostMs }, limit: 1 };
  const shards = Array.from({ length: limits.dueShards }, (_, shard) => shard);
  const [inboxes, categories, ...sends] = await Promise.all([
    store.query(dueErasures, { shard: 0 }, first),
    store.query(dueCategoryErasures, { shard: 0 }, first),
    ...shards.map(shard => store.query(dueSends, { shard }, first)),
  ]);
  const due = [...inboxes.items, ...categories.items, ...sends.flatMap(({ items }) => items)];
  const waits = due.map(({ dueat = 0 }) => dueat - clock.now());
  return Math.min(mostMs, ...waits);
}

// Returns how many sends it looked at.
export async function runAll(deps: Deps, signal?: AbortSignal): Promise<number> {
  const looked = await runDue(deps, signal);
  await runDueErasures(deps, inboxErasures, signal);
  await runDueErasures(deps, categoryErasures, signal);
  return looked;
}
