import { join } from 'node:path';
import type { Plan } from '../harness.ts';
import { createBench, runParts } from '../parts.ts';
import { type Customer, createCustomer } from '../server/customer.ts';
import { type ServerProcess, startServerProcess } from '../server/process.ts';
import { type DeliverySettings, measureDelivery } from './delivery.ts';
import { startDestination } from './destination.ts';
import { measureGrowth } from './growth.ts';
import { type MachineSettings, measureMachine } from './machine.ts';
import { printResults, readmeSection } from './report.ts';
import { measureRequests } from './requests.ts';
import { measureRetries, type RetriesSettings } from './retries.ts';
import { judgeResults, type Part, partNames, type Results } from './targets.ts';
import { measureUnits } from './units.ts';

type Extent = {
  plan: Plan;
  delivery: DeliverySettings;
  sizes: readonly number[];
  gapsMs: number;
  retries: RetriesSettings;
  unitEvents: number;
  machine: MachineSettings;
};

const full: Extent = {
  plan: { rounds: 7, roundMs: 500, warmUpMs: 5000 }, // V8 compiles what is used most for seconds
  delivery: {
    rounds: 5,
    pace: { perSecond: 300, durationMs: 2000 },
    warmUpMs: 3000,
    slowSources: 125,
    slowConnections: 8,
    slowEveryMs: 10_000,
    slowPace: { perSecond: 100, durationMs: 3000 },
  },
  sizes: [10_000, 1_000_000],
  gapsMs: 15_000,
  retries: { retries: 100_000, connections: 20, perSecond: 100, mostMs: 240_000 },
  unitEvents: 100,
  machine: {
    rounds: 3,
    warmUpEvents: 5000,
    steadyMs: 10_000,
    events: 10_000,
    paces: { often: { perSecond: 200, durationMs: 8000 }, seldom: { perSecond: 50, durationMs: 8000 } },
    killedAfter: 2000,
  },
};
const quick: Extent = {
  plan: { rounds: 1, roundMs: 100, warmUpMs: 100 },
  delivery: {
    rounds: 1,
    pace: { perSecond: 100, durationMs: 500 },
    warmUpMs: 200,
    slowSources: 2,
    slowConnections: 5,
    slowEveryMs: 1000,
    slowPace: { perSecond: 50, durationMs: 500 },
  },
  sizes: [100, 5000],
  gapsMs: 500,
  retries: { retries: 500, connections: 5, perSecond: 50, mostMs: 60_000 },
  unitEvents: 5,
  machine: {
    rounds: 1,
    warmUpEvents: 100,
    steadyMs: 500,
    events: 100,
    paces: { often: { perSecond: 200, durationMs: 200 }, seldom: { perSecond: 50, durationMs: 200 } },
    killedAfter: 100,
  },
};

async function measure(parts: readonly Part[], extent: Extent, folder: string): Promise<Results> {
  const { plan, delivery, sizes, gapsMs, retries, unitEvents, machine } = extent;
  const destination = await startDestination(delivery.slowSources);
  try {
    return await runParts<Results, Part>(parts, {
      units: () =>
        withServer(join(folder, 'units'), ({ url }, { client }) =>
          measureUnits(url, client, destination, unitEvents),
        ),
      requests: () =>
        withServer(join(folder, 'requests'), (server, { client }) =>
          measureRequests(server, client, destination, plan),
        ),
      delivery: () =>
        withServer(join(folder, 'delivery'), ({ url }, { client }) =>
          measureDelivery(url, client, destination, delivery),
        ),
      retries: () => measureRetries(destination, retries, join(folder, 'retries')),
      growth: () => measureGrowth(sizes, plan, gapsMs, folder),
      machine: () => measureMachine(destination, machine, join(folder, 'machine')),
    });
  } finally {
    await destination.close();
  }
}

async function withServer<T>(
  folder: string,
  work: (server: ServerProcess, customer: Customer) => Promise<T>,
): Promise<T> {
  const server = await startServerProcess(folder);
  try {
    return await work(server, await createCustomer(server.url, { apiKeys: 1, sessions: 1, endUsers: 0 }));
  } finally {
    await server.close();
  }
}

export const run = createBench({
  name: 'webhooks',
  partNames,
  full,
  quick,
  measure,
  judgeResults,
  printResults,
  readmeSection,
});
