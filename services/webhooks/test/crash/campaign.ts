import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '@stak/kit';
import { runCampaign } from './rounds.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    senders: { type: 'string', default: '8' },
  },
});
const rounds = Number(values.rounds);
const seed = Number(values.seed);

console.log(`${rounds} rounds with seed ${seed}`);
const root = await mkdtemp(join(tmpdir(), 'stak-webhooks-crash-'));
const startedMs = performance.now();
const report = await runCampaign({
  path: join(root, 'data'),
  rounds,
  random: seededRandom(seed),
  senders: Number(values.senders),
  log: console.log,
});
const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
for (const violation of report.violations.slice(0, 20)) console.error(violation);
const verdict =
  report.violations.length === 0 ? 'nothing was lost' : `${report.violations.length} violations`;
console.log(
  `${rounds} rounds, ${report.acknowledged} acknowledged, ${report.deliveries} delivered, ` +
    `${report.duplicates} twice (in flight at a kill, same id), ${seconds} s, seed ${seed}: ${verdict}`,
);
if (report.violations.length === 0) await rm(root, { recursive: true });
else {
  console.error(`the store is kept in ${root}`);
  process.exitCode = 1;
}
