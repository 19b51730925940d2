import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from '../server/memory.ts';
import type { DrainResult } from './backlog.ts';
import { openLake } from './lake.ts';

// Captures what is in the stream and records how much memory that takes.
const [folder, count] = process.argv.slice(2) as [string, string];
const changes = Number(count);

const peak = { privateMb: 0, residentMb: 0 };
const watch = setInterval(() => {
  const memory = memoryOf(process.pid);
  peak.privateMb = Math.max(peak.privateMb, memory?.privateMb ?? 0);
  peak.residentMb = Math.max(peak.residentMb, memory?.residentMb ?? 0);
}, 20);

const lake = await openLake(folder);
const stopping = new AbortController();
const startMs = performance.now();
const captured = lake.capture.run(stopping.signal);
while ((await lake.status()).bronze_rows < changes) await sleep(100);
const seconds = (performance.now() - startMs) / 1000;
clearInterval(watch);
stopping.abort();
await captured;
await lake.close();
process.send!({ changes, seconds, ...(peak.privateMb > 0 && peak) } satisfies DrainResult);
process.disconnect();
