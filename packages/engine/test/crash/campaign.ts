import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCampaign } from './rounds.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '50' },
    workers: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const rounds = Number(values.rounds);
const seed = Number(values.seed);

const processes = Number(values.workers);
console.log(`${rounds} rounds with seed ${seed}, ${processes} processes`);
const root = await mkdtemp(join(tmpdir(), 'stak-crash-'));
const started = performance.now();
const { operations, acknowledged, kills, violations } = await runCampaign({
  root,
  rounds,
  seed,
  messages: 8000,
  processes,
  log: console.log,
});
const seconds = ((performance.now() - started) / 1000).toFixed(0);
const verdict = violations.length === 0 ? 'nothing was lost' : `${violations.length} violations`;
console.log(
  `${rounds} rounds, ${kills} kills, ${operations} operations, ${acknowledged} acknowledged, ${seconds} s, seed ${seed}: ${verdict}`,
);
if (violations.length === 0) await rm(root, { recursive: true });
else {
  console.error(`the store is kept in ${root}`);
  process.exitCode = 1;
}
