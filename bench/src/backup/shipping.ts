import { join } from 'node:path';
import { type Measure, measureInterleaved, type Plan, type Runner, runClosedLoop } from '../harness.ts';
import { openStore, puts, startBackup, until } from './store.ts';

export type Shipping = { inFlight: number; measures: Record<string, Measure> };

const inFlight = 32;
const itemBytes = 1000;

// The same puts into a store without a backup and into one that is being backed up, alternating.
export async function measureShipping(folder: string, plan: Plan): Promise<Shipping> {
  const alone = await openStore(join(folder, 'alone'));
  const path = join(folder, 'shipped');
  const shipped = await openStore(path);
  const backup = startBackup(shipped, path, join(folder, 'target'));
  await until(() => (backup.state()?.snapshotAt ?? 0) > 0);
  const [putAlone, putShipped] = [puts(alone, itemBytes), puts(shipped, itemBytes)];
  const runners: Runner[] = [
    { name: 'alone', run: ({ durationMs }) => runClosedLoop(putAlone, { inFlight, durationMs }) },
    {
      name: 'shipped',
      async run({ durationMs }) {
        const round = await runClosedLoop(putShipped, { inFlight, durationMs });
        // Shipping the rest must not slow down the other store's round.
        const endedAt = Date.now();
        await until(() => (backup.state()?.shippedUntil ?? 0) > endedAt);
        return round;
      },
    },
  ];
  const measures = await measureInterleaved(runners, { operation: 'put', inFlight }, plan);
  await backup.stop();
  await alone.close();
  await shipped.close();
  return { inFlight, measures };
}
