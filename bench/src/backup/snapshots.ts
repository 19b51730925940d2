import { join } from 'node:path';
import type { Engine } from '@stak/engine';
import { type Round, runClosedLoop, summarize, sumUp } from '../harness.ts';
import { load, openStore, puts, startBackup, until } from './store.ts';

export type SnapshotSettings = { items: number; rounds: number; quietMs: number };
export type Snapshots = {
  items: number;
  quiet: ReturnType<typeof sumUp>;
  during: ReturnType<typeof sumUp>;
  p99Ratios: number[]; // of each round: during a snapshot over without
  seconds: number; // of the last snapshot
};

const inFlight = 16;
const itemBytes = 200;

// Puts into a large store, without a snapshot and while one is taken.
export async function measureSnapshots(folder: string, settings: SnapshotSettings): Promise<Snapshots> {
  const { items, rounds, quietMs } = settings;
  const path = join(folder, 'data');
  const engine = await openStore(path);
  await load(engine, items, itemBytes);
  const put = puts(engine, itemBytes);
  const quiet: Round[] = [];
  const during: Round[] = [];
  let seconds = 0;
  for (let round = 0; round < rounds; round++) {
    // An empty target: a snapshot starts at once.
    const backup = startBackup(engine, path, join(folder, `target-${round}`));
    const startedAt = performance.now();
    during.push(await putUntil(put, () => (backup.state()?.snapshotAt ?? 0) > 0));
    seconds = (performance.now() - startedAt) / 1000;
    await until(() => (backup.state()?.lagMs ?? Number.POSITIVE_INFINITY) < 2000);
    quiet.push(await runClosedLoop(put, { inFlight, durationMs: quietMs }));
    await backup.stop();
  }
  await (engine as Engine).close();
  const p99Ratios = during.map(({ p99Ms }, turn) => p99Ms / quiet[turn]!.p99Ms);
  return { items, quiet: sumUp(quiet), during: sumUp(during), p99Ratios, seconds };
}

async function putUntil(put: () => Promise<unknown>, isOver: () => boolean): Promise<Round> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (!isOver()) {
        const beganAt = performance.now();
        await put();
        latencies.push(performance.now() - beganAt);
      }
    }),
  );
  return summarize(latencies, performance.now() - startedAt);
}
