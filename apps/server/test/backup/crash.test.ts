import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runRounds } from './crash-rounds.ts';

// The short version of `npm run test:crash -- backup`.
it('restores every acknowledged commit after the machine is lost, with whole transactions and correct indexes', {
  timeout: 120_000,
  retry: 0, // what is lost once is lost, whatever the next seed shows
}, async () => {
  const root = await mkdtemp(join(tmpdir(), 'stak-backup-crash-'));
  const seed = Date.now() % 1_000_000;
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const { violations, operations } = await runRounds({
    root,
    rounds: 2,
    seed,
    processes: 2,
    longestMs: 800,
    log,
  });
  expect(violations.slice(0, 5), [`seed ${seed}`, ...lines].join('\n')).toEqual([]);
  expect(operations).toBeGreaterThan(0);
  await rm(root, { recursive: true });
});
