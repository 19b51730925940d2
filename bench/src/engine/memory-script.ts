import { readFileSync } from 'node:fs';
import { createEngine } from '@stak/engine';
import { createTable, shapeOf } from './data.ts';
import { load, type Port } from './operations.ts';
import type { Memory } from './results.ts';
import { loadInFlight } from './settings.ts';

// Loads a folder and records how much memory that takes.
const [folder, size, epochMs] = process.argv.slice(2) as [string, string, string];
const items = Number(size);

// The kernel counts cached pages of the mapped file as resident. They are clean and are dropped when memory is needed;
// private memory is what the process itself holds.
function residentMb(kind: 'RssAnon' | 'RssFile'): number {
  const [, kb] =
    new RegExp(`^${kind}:\\s+(\\d+) kB`, 'm').exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kb) / 1024;
}

const peak = { privateMb: 0, mappedMb: 0 };
const watch = setInterval(() => {
  peak.privateMb = Math.max(peak.privateMb, residentMb('RssAnon'));
  peak.mappedMb = Math.max(peak.mappedMb, residentMb('RssFile'));
}, 20);

const engine = await createEngine({ path: folder });
await engine.execute('CreateTable', createTable);
const start = performance.now();
await load(engine.client as unknown as Port, shapeOf(items, Number(epochMs)), loadInFlight);
const seconds = (performance.now() - start) / 1000;
clearInterval(watch);
await engine.close();
process.send!({ items, seconds, ...peak } satisfies Memory);
process.disconnect();
