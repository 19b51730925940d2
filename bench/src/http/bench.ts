import type { Plan } from '../harness.ts';
import { createBench, runParts } from '../parts.ts';
import { type Counts, createCustomer } from '../server/customer.ts';
import { startServerProcess } from '../server/process.ts';
import { measureServer, type ServerMeasure } from '../server/rounds.ts';
import { measureStarting } from '../server/starting.ts';
import { printResults, readmeSection } from './report.ts';
import { operationsFor, type RequestName, requestNames } from './requests.ts';
import { judgeResults, type Part, partNames, type Results } from './targets.ts';

// The cost of authentication: the real server, compared with a constant response on the same socket.

type Extent = { plan: Plan; callers: Counts; starts: number; idleMs: number };

const full: Extent = {
  plan: { rounds: 7, roundMs: 500, warmUpMs: 1500 },
  callers: { apiKeys: 32, sessions: 8, endUsers: 32 },
  starts: 5,
  idleMs: 60_000,
};
const quick: Extent = {
  plan: { rounds: 1, roundMs: 50, warmUpMs: 50 },
  callers: { apiKeys: 2, sessions: 2, endUsers: 2 },
  starts: 1,
  idleMs: 0,
};
const inFlight = 32;

function measure(parts: readonly Part[], extent: Extent, folder: string): Promise<Results> {
  const { starts: times, idleMs } = extent;
  return runParts<Results, Part>(parts, {
    starting: () => measureStarting({ folder, times, idleMs }),
    requests: () => measureRequests(extent, folder),
  });
}

async function measureRequests(
  { plan, callers }: Extent,
  folder: string,
): Promise<Record<RequestName, ServerMeasure>> {
  const server = await startServerProcess(folder);
  try {
    const operations = operationsFor(await createCustomer(server.url, callers));
    return await measureServer({ server, operations, names: requestNames, inFlight, plan });
  } finally {
    await server.close();
  }
}

export const run = createBench({
  name: 'http',
  partNames,
  full,
  quick,
  measure,
  judgeResults,
  printResults,
  readmeSection,
});
