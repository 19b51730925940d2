import { createEngine } from '@stak/engine';
import { createSealer, systemClock } from '@stak/kit';
import { exportArchive, importArchive } from '@stak/server';
import { streamsTable } from '@stak/streams';
import { createTables } from '@stak/table';
import { memoryOf } from '../server/memory.ts';
import { type MoveResult, moved } from './move.ts';

// One direction of a move, in its own process, so that its memory can be measured.
const [direction, data, folder] = process.argv.slice(2) as ['export' | 'import', string, string];

let peakMb = 0;
const watch = setInterval(() => {
  peakMb = Math.max(peakMb, memoryOf(process.pid)?.privateMb ?? 0);
}, 20);
let reports = 0;
const progress = () => {
  reports += 1;
};

const sealer = createSealer({ keys: [{ id: 'one', secret: 'a secret that is long enough for a seal' }] });
const engine = await createEngine({ path: data, sweepIntervalMs: 0 });
if (direction === 'import') await createTables(engine, [streamsTable]); // where an import records that it has started
const shared = { client: engine.client, tables: moved, folder, sealer, passphrase: 'correct horse battery' };
const startMs = performance.now();
const { items } =
  direction === 'export'
    ? await exportArchive({ ...shared, now: systemClock.now, progress })
    : await importArchive({ ...shared, control: engine, clock: systemClock, progress });
const seconds = (performance.now() - startMs) / 1000;
clearInterval(watch);
await engine.close();
process.send!({ items, seconds, reports, ...(peakMb > 0 && { peakMb }) } satisfies MoveResult);
process.disconnect();
