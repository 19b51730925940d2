import { join } from 'node:path';
import type { Plan } from '../harness.ts';
import { createBench, runParts } from '../parts.ts';
import { type Counts, createCustomer } from '../server/customer.ts';
import { startServerProcess } from '../server/process.ts';
import { measureServer } from '../server/rounds.ts';
import { type CostSettings, measureCost } from './cost.ts';
import { measureReading, type ReadingSettings } from './reading.ts';
import { printResults, readmeSection } from './report.ts';
import { operationsFor, prepareInbox, requestNames } from './requests.ts';
import { measureStreaming, type StreamingSettings } from './streaming.ts';
import { judgeResults, type Part, partNames, type Results } from './targets.ts';

type Extent = {
  plan: Plan;
  cost: CostSettings;
  reading: ReadingSettings;
  requesters: Counts;
  streaming: StreamingSettings;
  streamers: Counts;
};

const full: Extent = {
  plan: { rounds: 7, roundMs: 500, warmUpMs: 5000 }, // V8 compiles what is used most for seconds
  cost: { few: 10, many: 1_000_000, fanOutTo: 1000 },
  reading: { short: 1000, long: 100_000, broadcasts: 200 },
  requesters: { apiKeys: 32, sessions: 1, endUsers: 32 },
  streaming: { perSecond: 200, warmUpMs: 3000, durationMs: 20_000 },
  streamers: { apiKeys: 8, sessions: 1, endUsers: 500 },
};
const quick: Extent = {
  plan: { rounds: 1, roundMs: 100, warmUpMs: 100 },
  cost: { few: 10, many: 1000, fanOutTo: 100 },
  reading: { short: 100, long: 1000, broadcasts: 50 },
  requesters: { apiKeys: 2, sessions: 1, endUsers: 2 },
  streaming: { perSecond: 50, warmUpMs: 200, durationMs: 1000 },
  streamers: { apiKeys: 2, sessions: 1, endUsers: 20 },
};
const inFlight = 32;

const measure = (parts: readonly Part[], extent: Extent, folder: string): Promise<Results> =>
  runParts<Results, Part>(parts, {
    cost: () => measureCost(extent.cost, folder),
    reading: () => measureReading(extent.reading, extent.plan),
    requests: () => measureRequests(extent, join(folder, 'requests')),
    streaming: () => measureStreams(extent, join(folder, 'streaming')),
  });

async function measureRequests({ plan, requesters }: Extent, folder: string) {
  const server = await startServerProcess(folder);
  try {
    const customer = await createCustomer(server.url, requesters);
    await prepareInbox(customer);
    const operations = operationsFor(customer);
    return await measureServer({ server, operations, names: requestNames, inFlight, plan });
  } finally {
    await server.close();
  }
}

async function measureStreams({ streaming, streamers }: Extent, folder: string) {
  const server = await startServerProcess(folder);
  try {
    const customer = await createCustomer(server.url, streamers);
    await customer.client.inbox.writeInbox({
      tenant_id: customer.tenantId,
      inbox_key: 'main',
      body: { title: 'Main' },
    });
    return await measureStreaming(server.url, customer, streaming);
  } finally {
    await server.close();
  }
}

export const run = createBench({
  name: 'inbox',
  partNames,
  full,
  quick,
  measure,
  judgeResults,
  printResults,
  readmeSection,
});
