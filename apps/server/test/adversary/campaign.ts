// Runs servers on a store, streams and a network that misbehave, in a time that only jumps, with one seed after the
// other, until the time is over.
//   npm run adversary -- --minutes 30 [--seed 1]
import { parseArgs } from 'node:util';
import { describeResult, planOf, run, shrink } from './run.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const minutes = Number(values.minutes ?? 1);
const firstSeed = Number(values.seed ?? 1);

if (!(minutes > 0) || !Number.isInteger(firstSeed) || firstSeed < 1) {
  console.error('Usage: npm run adversary -- [--minutes 30] [--seed 1]');
  process.exitCode = 2;
} else await runSeeds();

async function runSeeds(): Promise<void> {
  const startedAt = performance.now();
  const minutesSince = () => (performance.now() - startedAt) / 60_000;
  let seed = firstSeed;
  do {
    const plan = planOf(seed);
    const before = process.cpuUsage();
    const result = await run(plan);
    const { user, system } = process.cpuUsage(before);
    const seconds = ((user + system) / 1_000_000).toFixed(1);
    const { violations, hash, virtualMs, deaths } = result;
    const what = `${plan.loads.join(' and ')}, ${Math.round(virtualMs / 1000)} s with ${deaths} deaths`;
    console.log(
      `seed ${seed}: ${violations.length === 0 ? 'held' : 'FAILED'}, ${what}, history ${hash}, ${seconds} s of a processor`,
    );
    if (violations.length > 0) return report(seed);
    seed += 1;
  } while (minutesSince() < minutes);
  const hours = minutesSince() / 60;
  console.log(`${seed - firstSeed} seeds held, ${Math.round((seed - firstSeed) / hours)} an hour`);
}

async function report(seed: number): Promise<void> {
  process.exitCode = 1;
  const plan = planOf(seed);
  console.error(describeResult(plan, await run(plan)));
  console.error('\nLooking for a smaller history...');
  const smallest = await shrink(plan);
  console.error(describeResult(smallest, await run(smallest)));
  console.error(`\nAgain: npm run adversary -- --seed ${seed} --minutes 0.01`);
}
