import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '@stak/kit';
import type { Drain } from './iceberg.ts';
import { openLake } from './lake.ts';

// Captures what is in the stream while maintenance runs, with or without Iceberg tables.
const [folder, count, kind] = process.argv.slice(2) as [string, string, string];
const changes = Number(count);

const lake = await openLake(folder, systemClock, kind === 'with');
const stopping = new AbortController();
const startMs = performance.now();
const working = [lake.capture, lake.maintenance].map(worker => worker.run(stopping.signal));
while ((await lake.status()).bronze_rows < changes) await sleep(20);
const seconds = (performance.now() - startMs) / 1000;
stopping.abort();
await Promise.all(working);
await lake.close();
process.send!({ perSecond: changes / seconds } satisfies Drain);
process.disconnect();
