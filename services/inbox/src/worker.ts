import { type Worker, watchGone } from '@stak/kit';
import { releaseGoneCategoryErasures, runCategoryErasures } from './category-erasure.ts';
import type { Service } from './deps.ts';
import { releaseGoneErasures, runErasures } from './inbox-erasure.ts';
import * as limits from './limits.ts';
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
        await service.due.wait(limits.pollMs, signal);
      }
    } finally {
      gone.stop();
    }
  },
});

// Answers how many sends it has looked at.
export async function runAll(service: Service, signal?: AbortSignal): Promise<number> {
  const looked = await runDue(service, signal);
  await runErasures(service, signal);
  await runCategoryErasures(service, signal);
  return looked;
}
