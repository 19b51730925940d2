import { type Worker, watchGone } from '@stak/kit';
import { releaseGoneCategoryErasures, runCategoryErasures } from './category-erasure.ts';
import type { Service } from './deps.ts';
import { releaseGoneErasures, runErasures } from './inbox-erasure.ts';
import * as limits from './limits.ts';
import { dueCategoryErasures, dueErasures, dueSends } from './send-table.ts';
import { releaseGoneSends, runDue } from './send-worker.ts';

// Carries on whatever is due: scheduled messages, long lists of recipients, redactions of those, and what was deleted.
// A send or a job is held by moving its due time ahead; every step is made on the condition that it is still held, so
// one that was thought dead changes nothing.
export const createWorker = (service: Service): Worker => ({
  name: 'inbox sends',
  async run(signal) {
    const gone = watchGone(service.owners, service.due.ring);
    try {
      while (!signal.aborted) {
        await gone.check(async () => {
          await releaseGoneSends(service);
          await releaseGoneErasures(service);
          await releaseGoneCategoryErasures(service);
        });
        await runAll(service, signal);
        await service.due.wait(await untilNext(service), signal);
      }
    } finally {
      gone.stop();
    }
  },
});

// How long there is nothing to do. What this process schedules rings the bell, and what others do they look for
// themselves: a look a few times a minute is for those who died.
async function untilNext({ store, clock }: Service): Promise<number> {
  const first = { to: { dueat: clock.now() + limits.pollMs }, limit: 1 };
  const shards = Array.from({ length: limits.dueShards }, (_, shard) => shard);
  const [inboxes, categories, ...sends] = await Promise.all([
    store.query(dueErasures, { shard: 0 }, first),
    store.query(dueCategoryErasures, { shard: 0 }, first),
    ...shards.map(shard => store.query(dueSends, { shard }, first)),
  ]);
  const due = [...inboxes.items, ...categories.items, ...sends.flatMap(({ items }) => items)];
  const waits = due.map(({ dueat = 0 }) => dueat - clock.now());
  return Math.max(limits.pollLeastMs, Math.min(limits.pollMs, ...waits));
}

// Answers how many sends it has looked at.
export async function runAll(service: Service, signal?: AbortSignal): Promise<number> {
  const looked = await runDue(service, signal);
  await runErasures(service, signal);
  await runCategoryErasures(service, signal);
  return looked;
}
