import { join } from 'node:path';
import { createEngine } from '@stak/engine';
import { type AnyTable, type Attributes, createTables, defineTable } from '@stak/table';
import { runScript } from '../child-script.ts';
import { writeCopies } from '../copies.ts';

// `reports` counts how often progress was reported; `peakMb` is the process's private memory (Linux only).
export type MoveResult = { items: number; seconds: number; reports: number; peakMb?: number };
export type Move = { export: MoveResult; import: MoveResult };

const notes = defineTable({
  name: 'notes',
  description: 'Small items, as most are.',
  keys: { partition: 'pk', sort: 'sk' },
});
export const moved: readonly AnyTable[] = [notes];

export async function measureMove(folder: string, items: number): Promise<Move> {
  const data = join(folder, 'data');
  await fill(data, items);
  const archive = join(folder, 'archive');
  const script = import.meta.resolve('./move-script.ts');
  return {
    export: await runScript<MoveResult>(script, ['export', data, archive]),
    import: await runScript<MoveResult>(script, ['import', join(folder, 'other'), archive]),
  };
}

async function fill(path: string, items: number): Promise<void> {
  const engine = await createEngine({ path, sweepIntervalMs: 0 });
  try {
    await createTables(engine, moved);
    await writeCopies(engine.client, notes.name, notesOf(items));
  } finally {
    await engine.close();
  }
}

function* notesOf(items: number): Generator<Attributes> {
  for (let n = 0; n < items; n++) {
    const text = `note ${n.toString(36)} `.repeat(12);
    yield { pk: `user-${n % 1000}`, sk: String(n).padStart(10, '0'), text, n, tags: ['a', `t${n % 50}`] };
  }
}
