import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEngine, type Engine, StoreError } from '../src/index.ts';
import { createRandom } from './crash/random.ts';
import { createTables, indexes } from './crash/tables.ts';
import { execute, planOperation, tableName, writerCount } from './crash/workload.ts';

let folder: string;
let engine: Engine;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-backup-'));
  engine = await createEngine({ path: join(folder, 'store'), sweepIntervalMs: 0 });
  await createTables(engine);
});

afterEach(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

describe('a backup', () => {
  it('taken while 32 writers work contains everything acknowledged before, and is consistent', async () => {
    const acknowledged: { pk: string; sk: string }[] = [];
    let over = false;
    let enough = () => {};
    const busy = new Promise<void>(resolve => {
      enough = resolve;
    });
    const writing = Array.from({ length: writerCount }, async (_, writer) => {
      const random = createRandom('backup', writer);
      for (let n = 0; !over; n++) {
        const operation = planOperation(random, `${writer}.${n}`, writer, false);
        await execute(engine.client, operation);
        if (operation.kind === 'create') acknowledged.push(operation.writes[0]!.key);
        if (acknowledged.length === 200) enough();
      }
    });
    await busy;
    const before = [...acknowledged];
    await engine.backup(join(folder, 'copy'));
    over = true;
    await Promise.all(writing);

    expect(await readdir(join(folder, 'copy'))).toEqual(['stak.mdb']);
    const copy = await createEngine({ path: join(folder, 'copy'), sweepIntervalMs: 0 });
    expect(copy.check().problems).toEqual([]);
    for (const Key of before) {
      expect((await copy.client.get({ TableName: tableName, Key })).Item, Key.sk).toBeDefined();
    }
    for (const IndexName of Object.keys(indexes)) {
      await copy.client.scan({ TableName: tableName, IndexName, Limit: 1 });
    }
    // It goes its own way from here.
    await copy.client.put({ TableName: tableName, Item: { pk: 'only', sk: 'here' } });
    expect(
      (await engine.client.get({ TableName: tableName, Key: { pk: 'only', sk: 'here' } })).Item,
    ).toBeUndefined();
    await copy.close();
  });

  it('never overwrites a store', async () => {
    await engine.backup(join(folder, 'copy'));
    await expect(engine.backup(join(folder, 'copy'))).rejects.toThrow(/already holds a store/);
    await expect(engine.backup(join(folder, 'store'))).rejects.toThrow(/already holds a store/);
  });

  it('ignores an interrupted one', async () => {
    await mkdir(join(folder, 'copy'));
    await writeFile(join(folder, 'copy', 'stak.mdb-draft'), 'half a store');
    await engine.backup(join(folder, 'copy'));
    expect(await readdir(join(folder, 'copy'))).toEqual(['stak.mdb']);
  });

  it('to a target that is not writable is refused, and leaves nothing behind', async () => {
    await writeFile(join(folder, 'file'), 'text');
    await expect(engine.backup(join(folder, 'file', 'copy'))).rejects.toThrow(StoreError);
    await expect(engine.backup('/proc/stak')).rejects.toThrow(StoreError);
    expect((await readdir(folder)).sort()).toEqual(['file', 'store']);
  });
});
