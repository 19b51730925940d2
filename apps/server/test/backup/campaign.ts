import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runRounds } from './crash-rounds.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    workers: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const rounds = Number(values.rounds);
const seed = Number(values.seed);
const processes = Number(values.workers);
console.log(`${rounds} rounds with seed ${seed}, ${processes} processes`);
const root = await mkdtemp(join(tmpdir(), 'stak-backup-crash-'));
const { violations, operations, lost, worstLossMs } = await runRounds({
  root,
  rounds,
  seed,
  processes,
  longestMs: 6000,
  log: console.log,
});
const verdict = violations.length === 0 ? 'every promise was kept' : `${violations.length} violations`;
console.log(
  `${operations} acknowledged, ${lost} lost with the machine, at most of the last ${worstLossMs} ms, seed ${seed}: ${verdict}`,
);
for (const line of violations.slice(0, 20)) console.error(line);
if (violations.length === 0) await rm(root, { recursive: true });
else {
  console.error(`everything is kept in ${root}`);
  process.exitCode = 1;
}
