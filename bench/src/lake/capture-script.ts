import { setTimeout as sleep } from 'node:timers/promises';
import type { Attributes } from '@stak/table';
import { keepPace } from '../server/pace.ts';
import { percentile } from '../statistics.ts';
import { copyTasks } from '../tasks/stored-tasks.ts';
import type { Capture, CaptureSettings } from './capture.ts';
import { openLake, tableName } from './lake.ts';
import { readTemplates } from './templates.ts';

const [folder, text] = process.argv.slice(2) as [string, string];
const { perSecond, warmUpMs, durationMs } = JSON.parse(text) as CaptureSettings;
const perBatch = 20;
const lookEveryMs = 200;

const templates = await readTemplates();
const lake = await openLake(folder);
await lake.setStream(true);
const stopping = new AbortController();
const working = [lake.capture, lake.maintenance].map(worker => worker.run(stopping.signal));

// Every task is created, and changed a moment later.
const copies = copyTasks(templates.tasks, 'usr_0', Number.POSITIVE_INFINITY);
let before: Attributes[] = [];
function nextBatch(): Attributes[] {
  const changed = before.map(item => ({ ...item, updated_at: Number(item.updated_at) + 1 }));
  before = changed.length > 0 ? [] : Array.from({ length: perBatch }, () => copies.next().value!);
  return changed.length > 0 ? changed : before;
}
const change = (forMs: number) =>
  keepPace({ perSecond: perSecond / perBatch, durationMs: forMs }, async () => {
    const requests = nextBatch().map(Item => ({ PutRequest: { Item } }));
    await lake.client.batchWrite({ RequestItems: { [tableName]: requests } });
  });

await change(warmUpMs);
const lagsMs: number[] = [];
let isOver = false;
const looking = (async () => {
  while (!isOver) {
    lagsMs.push((await lake.status()).lag_ms);
    await sleep(lookEveryMs);
  }
})();
const startMs = performance.now();
await change(durationMs);
const seconds = (performance.now() - startMs) / 1000;
isOver = true;
await looking;
lagsMs.push((await lake.status()).lag_ms); // the last write counts too
stopping.abort();
await Promise.all(working);
await lake.close();
lagsMs.sort((a, b) => a - b);
process.send!({
  perSecond,
  written: (perSecond * durationMs) / 1000,
  seconds,
  lagP50Ms: percentile(lagsMs, 0.5),
  lagP95Ms: percentile(lagsMs, 0.95),
} satisfies Capture);
process.disconnect();
