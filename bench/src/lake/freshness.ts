import { setTimeout as sleep } from 'node:timers/promises';
import { createCaller } from '../server/caller.ts';
import type { Customer } from '../server/customer.ts';
import { keepPace } from '../server/pace.ts';
import { percentile } from '../statistics.ts';
import { newTask } from '../tasks/tasks.ts';
import { openBronze } from './bronze.ts';
import { insightName } from './lake.ts';

export type FreshnessSettings = { perSecond: number; durationMs: number };
type Delay = { p50Ms: number; p95Ms: number };
export type Freshness = { perSecond: number; changes: number; bronze: Delay; insight: Delay };

const lookEveryMs = 50;
const visibleWithinMs = 30_000;

// From sending a new task until it is in a committed file, and until an insight counts it.
export async function measureFreshness(
  url: string,
  lakeFolder: string,
  { apiKeys: [key] }: Customer,
  { perSecond, durationMs }: FreshnessSettings,
): Promise<Freshness> {
  const caller = createCaller(url);
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const sentMs = new Map<string, number>(); // by task, in the order they were created
  let isSent = false;
  const write = async () => {
    await keepPace({ perSecond, durationMs }, async (turn, atMs) => {
      const request = { method: 'POST', path: '/v1/tasks', headers, body: JSON.stringify(newTask(turn)) };
      const { body } = await caller.call(request, 201);
      sentMs.set((JSON.parse(String(body)) as { task_id: string }).task_id, atMs);
    });
    isSent = true;
  };
  const count = async (): Promise<number> => {
    const { body } = await caller.call({ method: 'GET', path: `/v1/insights/${insightName}`, headers }, 200);
    const { data } = JSON.parse(String(body)) as { data: { tasks: number }[] };
    return data.reduce((sum, { tasks }) => sum + tasks, 0);
  };
  // Polls until everything was found, and records when.
  const watch = async (look: () => Promise<string[]>): Promise<number[]> => {
    const delaysMs: number[] = [];
    const seen = new Set<string>();
    const deadline = performance.now() + durationMs + visibleWithinMs;
    while (!isSent || seen.size < sentMs.size) {
      if (performance.now() > deadline) throw new Error(`not visible in ${visibleWithinMs} ms`);
      for (const id of await look())
        if (sentMs.has(id) && !seen.has(id)) {
          seen.add(id);
          delaysMs.push(performance.now() - sentMs.get(id)!);
        }
      await sleep(lookEveryMs);
    }
    return delaysMs;
  };
  const { readNew } = openBronze(lakeFolder);
  const inFiles: string[] = []; // a file may appear before the response to its request
  const lookAtBronze = async () => {
    inFiles.push(...(await readNew()).flatMap(text => /tsk_[0-9a-z]+/.exec(text)?.[0] ?? []));
    return inFiles;
  };
  const lookAtInsight = async () => [...sentMs.keys()].slice(0, await count());
  try {
    await count(); // starts DuckDB
    const [, bronze, insight] = await Promise.all([write(), watch(lookAtBronze), watch(lookAtInsight)]);
    return { perSecond, changes: sentMs.size, bronze: delayOf(bronze), insight: delayOf(insight) };
  } finally {
    caller.close();
  }
}

function delayOf(delaysMs: readonly number[]): Delay {
  const sorted = [...delaysMs].sort((a, b) => a - b);
  return { p50Ms: percentile(sorted, 0.5), p95Ms: percentile(sorted, 0.95) };
}
