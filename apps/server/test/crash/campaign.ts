import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Random, seededRandom } from '@stak/kit';
import { prepareAgents } from './agents.ts';
import { type Outside, openOutside } from './agents-outside.ts';
import { buildServer, type CrashServer, startServer, type Victim } from './server.ts';
import { prepareWebhooks } from './webhooks.ts';

// Load on a real server of several workers, kills at random moments, and then every promise is checked.

export type Load = {
  // One request after another until there is nothing more to do.
  send(isOver: () => boolean): Promise<void>;
  acknowledged(): number;
  // Waits until everything is settled, and says which promises were broken, and what there was.
  verify(): Promise<{ violations: string[]; summary: string }>;
  close(): Promise<void>;
};

const loads = {
  webhooks: prepareWebhooks,
  agents: (to: CrashServer, by: Random) => prepareAgents(to, by, outside!),
};
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    workers: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    senders: { type: 'string', default: '8' },
  },
});
const name = positionals[0] as keyof typeof loads;
const [workers, rounds, seed, senders] = [values.workers, values.rounds, values.seed, values.senders].map(
  Number,
) as [number, number, number, number];
const random = seededRandom(seed);
// Mostly one worker: the others have to go on with what it had, while they work themselves.
const victims: readonly Victim[] = ['worker', 'worker', 'worker', 'supervisor', 'all'];

console.log(`${name}: ${rounds} rounds with seed ${seed}, ${workers} workers`);
const root = await mkdtemp(join(tmpdir(), `stak-${name}-crash-`));
// Within the project, where the packages are found.
const bundle = join(import.meta.dirname, `../../../.crash-${process.pid}/dist`);
const startedMs = performance.now();
const outside: Outside | undefined = name === 'agents' ? await openOutside(random) : undefined;
const server = await startServer(buildServer(bundle), join(root, 'data'), workers, outside?.env);
const { violations, summary } = await run().finally(async () => {
  await server.stop();
  await outside?.close();
  await rm(dirname(bundle), { recursive: true });
});

async function run() {
  const load = await loads[name](server, random);
  let isOver = false;
  const sending = Array.from({ length: senders }, () => load.send(() => isOver));
  for (let round = 0; round < rounds; round++) {
    const before = load.acknowledged();
    const lifeMs = 300 + random() * 2000;
    await new Promise(resolve => setTimeout(resolve, lifeMs));
    const victim = victims[Math.floor(random() * victims.length)]!;
    await server.kill(victim, random);
    console.log(
      `round ${round + 1}: ${load.acknowledged() - before} acknowledged, killed ${victim} after ${lifeMs.toFixed(0)} ms`,
    );
  }
  isOver = true;
  await Promise.all(sending);
  const found = await load.verify();
  await load.close();
  return found;
}

const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
for (const violation of violations.slice(0, 20)) console.error(violation);
const verdict = violations.length === 0 ? 'nothing was lost' : `${violations.length} violations`;
console.log(`${rounds} rounds (${countKills(server)}), ${summary}, ${seconds} s, seed ${seed}: ${verdict}`);
if (violations.length === 0) await rm(root, { recursive: true });
else {
  console.error(`the store is kept in ${root}`);
  process.exitCode = 1;
}

function countKills({ killed }: CrashServer): string {
  const times = (victim: Victim) => killed.filter(one => one.victim === victim).length;
  return `${times('worker')} times a worker, ${times('supervisor')} the supervisor, ${times('all')} all`;
}
