import { createEngine } from '@stak/engine';
import { createSealer, systemClock } from '@stak/kit';
import { exportArchive, importArchive } from '@stak/server';
import { streamsTable } from '@stak/streams';
import { createTables } from '@stak/table';
import { memoryOf } from '../server/memory.ts';
import { type Moved, moved } from './move.ts';

// One direction of a move in a process of its own, so that its memory is known.
const [direction, data, folder] = process.argv.slice(2) as ['export' | 'import', string, string];

let peakMb = 0;
const watch = setInterval(() => {
  peakMb = Math.max(peakMb, memoryOf(process.pid)?.privateMb ?? 0);
}, 20);
let told = 0;
const progress = () => {
  told += 1;
};

const sealer = createSealer({ keys: [{ id: 'one', secret: 'a secret that is long enough for a seal' }] });
const engine = await createEngine({ path: data, sweepIntervalMs: 0 });
if (direction === 'import') await createTables(engine, [streamsTable]); // where an import notes that it has begun
const shared = { client: engine.client, tables: moved, folder, sealer, passphrase: 'correct horse battery' };
const startMs = performance.now();
const { items } =
  direction === 'export'
    ? await exportArchive({ ...shared, now: systemClock.now, progress })
    : await importArchive({ ...shared, control: engine, clock: systemClock, progress });
const seconds = (performance.now() - startMs) / 1000;
clearInterval(watch);
await engine.close();
process.send!({ items, seconds, told, ...(peakMb > 0 && { peakMb }) } satisfies Moved);
process.disconnect();
