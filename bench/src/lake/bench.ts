import { join } from 'node:path';
import type { Plan } from '../harness.ts';
import { createBench, runParts } from '../parts.ts';
import { createCustomer } from '../server/customer.ts';
import { startServerProcess } from '../server/process.ts';
import { type BacklogSettings, measureBacklog } from './backlog.ts';
import { type CaptureSettings, measureCapture } from './capture.ts';
import { type FreshnessSettings, measureFreshness } from './freshness.ts';
import { type IcebergSettings, measureIceberg } from './iceberg.ts';
import { type InsightsSettings, measureInsights } from './insights.ts';
import { printResults, readmeSection } from './report.ts';
import { judgeResults, type Part, partNames, type Results } from './targets.ts';

type Extent = {
  plan: Plan;
  insights: InsightsSettings;
  freshness: FreshnessSettings;
  capture: CaptureSettings;
  iceberg: IcebergSettings;
  backlog: BacklogSettings;
};

const full: Extent = {
  plan: { rounds: 7, roundMs: 500, warmUpMs: 1500 },
  insights: { users: 20, tasksEach: 50_000, changes: 1000 },
  freshness: { perSecond: 20, durationMs: 20_000 },
  capture: { perSecond: 2000, warmUpMs: 5000, durationMs: 20_000 },
  iceberg: { changes: 200_000, rounds: 3 },
  backlog: { few: 20_000, many: 200_000 },
};
const quick: Extent = {
  plan: { rounds: 1, roundMs: 100, warmUpMs: 100 },
  insights: { users: 2, tasksEach: 2000, changes: 100 },
  freshness: { perSecond: 5, durationMs: 2000 },
  capture: { perSecond: 200, warmUpMs: 500, durationMs: 2000 },
  iceberg: { changes: 20_000, rounds: 1 }, // with fewer, most of the time is spent on loading the Avro library
  backlog: { few: 200, many: 2000 },
};

const measure = (parts: readonly Part[], extent: Extent, folder: string): Promise<Results> =>
  runParts<Results, Part>(parts, {
    insights: () => measureInsights(join(folder, 'insights'), extent.insights, extent.plan),
    freshness: () => measureServerFreshness(join(folder, 'freshness'), extent.freshness),
    capture: () => measureCapture(join(folder, 'capture'), extent.capture),
    iceberg: () => measureIceberg(join(folder, 'iceberg'), extent.iceberg),
    backlog: () => measureBacklog(join(folder, 'backlog'), extent.backlog),
  });

async function measureServerFreshness(folder: string, settings: FreshnessSettings) {
  const server = await startServerProcess(folder);
  try {
    const customer = await createCustomer(server.url, { apiKeys: 1, sessions: 1, endUsers: 0 });
    return await measureFreshness(server.url, join(folder, 'data', 'lake'), customer, settings);
  } finally {
    await server.close();
  }
}

export const run = createBench({
  name: 'lake',
  partNames,
  full,
  quick,
  measure,
  judgeResults,
  printResults,
  readmeSection,
});
