import { join } from 'node:path';
import type { BenchOptions } from '../bench.ts';
import { inDataFolder } from '../data-folder.ts';
import type { Verdict } from '../gates.ts';
import { chooseParts } from '../parts.ts';
import { keepResults } from '../results-file.ts';
import { createCustomer } from '../server/customer.ts';
import type { Pace } from '../server/pace.ts';
import { startServerProcess } from '../server/process.ts';
import { startDestination } from '../webhooks/destination.ts';
import { keepStriking, prepareAttacks } from './attacks.ts';
import { countLost, prepareNeighbour } from './neighbour.ts';
import { printResults, readmeSection } from './report.ts';
import { judgeResults, type Results } from './targets.ts';

// One account attacks in a loop; another one sends typical requests.

type Extent = {
  pace: Pace;
  warmUp: Pace;
  endUsers: number;
  callersEach: number;
  everyMs: number;
  patienceMs: number;
};

const full: Extent = {
  pace: { perSecond: 40, durationMs: 20_000 },
  warmUp: { perSecond: 100, durationMs: 3000 },
  endUsers: 30,
  callersEach: 2,
  everyMs: 1000,
  patienceMs: 20_000,
};
// Enough to show that everything runs. The figures mean little and are not stored.
const quick: Extent = {
  pace: { perSecond: 20, durationMs: 2000 },
  warmUp: { perSecond: 20, durationMs: 500 },
  endUsers: 4,
  callersEach: 1,
  everyMs: 500,
  patienceMs: 10_000,
};

export async function run({ quick: isQuick, only }: BenchOptions): Promise<Verdict[]> {
  chooseParts([], only);
  const results = await inDataFolder('neighbours', folder => measure(isQuick ? quick : full, folder));
  const verdicts = judgeResults(results);
  console.log(`\n${printResults(results)}`);
  if (!isQuick) keepResults('neighbours', { results, verdicts, section: readmeSection(results) });
  return verdicts;
}

async function measure({ pace, warmUp, endUsers, ...extent }: Extent, folder: string): Promise<Results> {
  const destination = await startDestination(0);
  const server = await startServerProcess(join(folder, 'server'));
  const stop = new AbortController();
  try {
    const counts = { apiKeys: 1, sessions: 1, endUsers };
    const neighbour = await prepareNeighbour(
      server.url,
      await createCustomer(server.url, counts),
      destination,
    );
    const attacks = await prepareAttacks(
      server.url,
      await createCustomer(server.url, counts, 'attacker'),
      destination.url,
    );
    await neighbour.ask(warmUp);
    const quiet = await neighbour.ask(pace);
    const attacking = keepStriking(attacks, { ...extent, signal: stop.signal });
    attacking.catch(() => {}); // awaited below
    const attacked = await neighbour.ask(pace);
    const marks = [...quiet.marks, ...attacked.marks];
    const lost = await countLost(destination, marks, extent.patienceMs);
    stop.abort();
    const answered = await attacking;
    return { quiet: quiet.latencies, attacked: attacked.latencies, events: marks.length, lost, answered };
  } finally {
    stop.abort();
    await server.close();
    await destination.close();
  }
}
