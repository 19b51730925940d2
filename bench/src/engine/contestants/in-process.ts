import { existsSync } from 'node:fs';
import { createEngine } from '@stak/engine';
import type { Contestant } from '../../contestant.ts';
import { createTable } from '../data.ts';
import { createOperations, load, type Port } from '../operations.ts';
import { loadInFlight, type Settings } from '../settings.ts';

// An existing folder was loaded before.
export async function start({ folder, shape }: Settings): Promise<Contestant> {
  const isNew = !existsSync(folder);
  const engine = await createEngine({ path: folder });
  const port = engine.client as unknown as Port;
  if (isNew) {
    await engine.execute('CreateTable', createTable);
    await load(port, shape, loadInFlight);
  }
  return { operations: createOperations(port, shape), close: engine.close };
}
