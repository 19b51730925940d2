import { join } from 'node:path';
import { createEngine } from '../../src/index.ts';
import { type Entry, themes } from './journal.ts';
import { createRandom, type Random } from './random.ts';
import { runRound } from './round.ts';
import { createTables } from './tables.ts';
import type { Operation } from './workload.ts';

export type CampaignOptions = {
  root: string;
  rounds: number;
  seed: number;
  // The longest a round may last, in messages.
  messages: number;
  processes?: number; // on one store, 1 by default
  log(line: string): void;
};
export type CampaignResult = {
  operations: number;
  acknowledged: number;
  kills: number;
  violations: string[];
};

// A store lives through a few crashes before a new one is begun.
const roundsPerStore = 5;

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { root, rounds, seed, messages, processes = 1, log } = options;
  const random = createRandom(seed);
  const total: CampaignResult = { operations: 0, acknowledged: 0, kills: 0, violations: [] };
  let folder = '';
  let operations: Entry<Operation>[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % roundsPerStore === 0) {
      folder = join(root, String(round));
      operations = [];
      await prepare(folder);
    }
    const theme = themes[(round + Math.floor(round / roundsPerStore)) % themes.length]!;
    const killAfter = chooseMoment(random, messages);
    const result = await runRound({ folder, seed, round, theme, killAfter, processes, operations });
    total.operations += result.started;
    total.acknowledged += result.acknowledged;
    total.kills += result.kills + 1;
    total.violations.push(...result.violations);
    const verdict = result.violations.length === 0 ? 'ok' : `${result.violations.length} VIOLATIONS`;
    log(
      `round ${round + 1}: ${theme}, killed after message ${killAfter}${result.kills > 0 ? ` and ${result.kills} times one` : ''}, ` +
        `${result.acknowledged} of ${result.started} operations acknowledged: ${verdict}`,
    );
    for (const violation of result.violations.slice(0, 10)) log(`  ${violation}`);
  }
  return total;
}

// Now and then while the store is being opened; otherwise somewhere in the work.
const chooseMoment = (random: Random, messages: number): number =>
  random.below(12) === 0 ? 1 + random.below(3) : 2 + random.below(messages);

async function prepare(folder: string): Promise<void> {
  const engine = await createEngine({ path: folder, sweepIntervalMs: 0 });
  await createTables(engine);
  await engine.close();
}
