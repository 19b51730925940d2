import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCampaign } from './rounds.ts';

// npm run test:power-cut -- [--seeds N] [--seed N]

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const seed = Number(values.seed);
console.log(`${values.seeds} states of the disk with seed ${seed}`);
const root = await mkdtemp(join(tmpdir(), 'stak-power-cut-'));
const started = performance.now();
const { states, violations } = await runCampaign({
  root,
  seed,
  states: Number(values.seeds),
  statesPerCut: 10,
  cutsPerRound: 5,
  log: console.log,
});
const seconds = ((performance.now() - started) / 1000).toFixed(0);
const verdict = violations.length === 0 ? 'nothing was lost' : `${violations.length} violations`;
console.log(`${states} states, ${seconds} s, seed ${seed}: ${verdict}`);
await rm(root, { recursive: true });
if (violations.length > 0) process.exitCode = 1;
