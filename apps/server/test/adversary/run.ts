import { seededRandom } from '@stak/kit';
import { createAgentsLoad } from './agents-load.ts';
import { allFaults, type Fixture, type Load, type Plan, type Result, runPlan } from './fixture.ts';
import { shorten } from './history.ts';
import { createInboxLoad } from './inbox-load.ts';
import { createStorageLoad } from './storage-load.ts';
import { createTasksLoad } from './tasks-load.ts';
import { createWebhooksLoad } from './webhooks-load.ts';

const creators: Record<string, (fixture: Fixture) => Promise<Load>> = {
  webhooks: createWebhooksLoad,
  inbox: createInboxLoad,
  tasks: createTasksLoad,
  agents: createAgentsLoad,
  storage: createStorageLoad,
};
const services = ['webhooks', 'inbox', 'tasks', 'agents'];

const loadsTogether = 2;
const storageShare = 0.25; // of the seeds: to count everything again takes as long as the rest
const forMs = 15_000;

/**
 * What a seed runs: some of the services and some of the faults. Where everything goes wrong at once, one fault hides
 * what another one does.
 */
export function planOf(seed: number): Plan {
  const random = seededRandom(seed + 2_000_003);
  const loads = [...services];
  while (loads.length > loadsTogether) loads.splice(Math.floor(random() * loads.length), 1);
  if (random() < storageShare) loads.push('storage');
  return {
    seed,
    loads,
    forMs,
    nodes: random() < 0.75 ? 2 : 3,
    faults: allFaults.filter(() => random() < 0.75),
  };
}

export const run = (plan: Plan): Promise<Result> =>
  runPlan(plan, async (fixture, names) => {
    for (const tenant_id of ['acme', 'limited'])
      await fixture.make('POST', '/v1/tenants', {
        send: { tenant_id, name: tenant_id, status: 'active' },
        key: tenant_id,
      });
    const loads: Load[] = [];
    for (const name of names) loads.push(await creators[name]!(fixture));
    return loads;
  });

/** The smallest plan found that breaks something too: fewer services, fewer kinds of faults, less time. */
export async function shrink(plan: Plan): Promise<Plan> {
  let smallest = plan;
  const tryIt = async (smaller: Plan) => {
    if ((await run(smaller)).violations.length > 0) smallest = smaller;
  };
  for (const load of plan.loads) if (smallest.loads.length > 1) await tryIt({ ...smallest, loads: [load] });
  for (const fault of plan.faults)
    await tryIt({ ...smallest, faults: smallest.faults.filter(one => one !== fault) });
  for (let ms = smallest.forMs / 2; ms > 500 && smallest.forMs === 2 * ms; ms /= 2)
    await tryIt({ ...smallest, forMs: ms });
  return smallest;
}

/** Describes what broke, with the lines of the history that are about it. */
export function describeResult({ seed, loads, faults, forMs: ms, nodes }: Plan, result: Result): string {
  const { violations, history, hash } = result;
  const [first] = violations;
  return [
    `seed ${seed}: ${nodes} servers, ${loads.join(' and ')} for ${ms} ms, with ${faults.join(', ') || 'no faults'}`,
    ...violations.slice(0, 5).map(({ what }) => `  ${what}`),
    ...(violations.length > 5 ? [`  and ${violations.length - 5} more`] : []),
    `History ${hash}, of which these lines are about the first:`,
    ...(first ? shorten(history, first.about).map(line => `  ${line}`) : []),
  ].join('\n');
}
