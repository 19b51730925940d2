import type { Attributes } from '@stak/table';
import { writeCopies } from '../copies.ts';
import type { Measure, Plan } from '../harness.ts';
import { measureOperations } from '../in-process-rounds.ts';
import { copyTasks, userOf } from '../tasks/stored-tasks.ts';
import { type OpenLake, openLake, tableName } from './lake.ts';
import { readTemplates } from './templates.ts';

const insightNames = ['page', 'insight'] as const;
type InsightMeasure = (typeof insightNames)[number];

export type InsightsSettings = { users: number; tasksEach: number; changes: number };
export type Insights = {
  tasks: number;
  changes: number; // since the last compaction
  scan: { readUnits: number; pages: number; ms: number };
  insight: { readUnits: number };
  measures: Record<InsightMeasure, Measure>;
};

// The number of tasks by status: by the documented scan of the whole table, and from the lake.
export async function measureInsights(
  folder: string,
  { users, tasksEach, changes }: InsightsSettings,
  plan: Plan,
): Promise<Insights> {
  const lake = await openLake(folder);
  let cost: Pick<Insights, 'scan' | 'insight'>;
  try {
    await fill(lake, users, tasksEach);
    await lake.setStream(true);
    await lake.keepAll(); // what a server does on its first start: reads the table and compacts
    const stored = await lake.readInsight();
    if (stored !== users * tasksEach) throw new Error(`${stored} tasks in the lake`);
    cost = { scan: await scanAll(lake), insight: { readUnits: await insightUnits(lake) } };
  } finally {
    await lake.close();
  }
  const measures = await measureOperations({
    module: import.meta.resolve('./insights-script.ts'),
    settings: { folder, changes },
    names: insightNames,
    inFlight: 1,
    plan,
  });
  return { tasks: users * tasksEach, changes, ...cost, measures };
}

async function fill({ client }: OpenLake, users: number, tasksEach: number): Promise<void> {
  const { tasks } = await readTemplates();
  for (let u = 0; u < users; u++)
    await writeCopies(client, tableName, copyTasks(tasks, userOf(u), tasksEach));
}

async function scanAll({ client }: OpenLake): Promise<Insights['scan']> {
  const startMs = performance.now();
  let [readUnits, pages] = [0, 0];
  let from: Attributes | undefined;
  do {
    const page = await client.scan({
      TableName: tableName,
      ReturnConsumedCapacity: 'TOTAL',
      ...(from && { ExclusiveStartKey: from }),
    });
    readUnits += page.ConsumedCapacity!.CapacityUnits!;
    pages += 1;
    from = page.LastEvaluatedKey;
  } while (from);
  return { readUnits, pages, ms: performance.now() - startMs };
}

async function insightUnits({ ledger, readInsight }: OpenLake): Promise<number> {
  ledger.clear();
  await readInsight();
  return ledger.entries().reduce((sum, entry) => sum + entry.readUnits, 0);
}
