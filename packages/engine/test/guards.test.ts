import { writeFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEngine, type Engine, readJournal } from '../src/index.ts';
import { encodeCheckpoint, readCheckpoint } from '../src/journal/checkpoint-file.ts';
import {
  call,
  hashTable,
  iteratorOf,
  openEngine,
  shardsOf,
  streaming,
  streamOf,
  testClock,
} from './engine-fixture.ts';

// The engine must refuse or report these, although they hardly ever happen: a test makes them happen.

const TableName = 'items';

type Page = { Records: { dynamodb: { Keys: object } }[]; NextShardIterator: string | null };

describe('a stream', () => {
  it('gives a closed shard to its last record, however small the pages are', async () => {
    const engine = await openEngine();
    await call(engine, 'CreateTable', hashTable(TableName, streaming()));
    const arn = await streamOf(engine, TableName);
    for (let n = 0; n < 7; n++) await engine.client.put({ TableName, Item: { pk: String(n) } });
    await engine.rollShards(TableName);
    const [closed] = await shardsOf(engine, arn);
    const seen: object[] = [];
    for (let next: string | null = await iteratorOf(engine, arn, closed!.ShardId); next !== null; ) {
      const page: Page = await call(engine, 'GetRecords', { ShardIterator: next, Limit: 2 });
      seen.push(...page.Records.map(({ dynamodb }) => dynamodb.Keys));
      next = page.NextShardIterator;
    }
    expect(seen).toEqual(Array.from({ length: 7 }, (_, n) => ({ pk: { S: String(n) } })));
    await engine.close();
  });
});

describe('a client token', () => {
  it('that is used again while the sweeper forgets it is kept', async () => {
    const clock = testClock();
    const engine = await openEngine({ clock });
    await call(engine, 'CreateTable', hashTable(TableName));
    const add = (step: number) =>
      engine.client.transactWrite({
        ClientRequestToken: 'again',
        TransactItems: [
          {
            Update: {
              TableName,
              Key: { pk: 'a' },
              UpdateExpression: 'ADD n :step',
              ExpressionAttributeValues: { ':step': step },
            },
          },
        ],
      });
    await add(1);
    clock.ms += 11 * 60_000;
    await Promise.all([add(10), engine.sweep()]);
    await add(10); // repeated
    expect((await engine.client.get({ TableName, Key: { pk: 'a' } })).Item).toEqual({ pk: 'a', n: 11 });
    await engine.close();
  });
});

describe('on disk', () => {
  let folder: string;
  const open = (path: string) =>
    createEngine({ path, sweepIntervalMs: 0, journal: { checkpointMs: 3_600_000 }, onError() {} });
  const put = (engine: Engine, pk: string, body = '') => engine.client.put({ TableName, Item: { pk, body } });
  const names = async (engine: Engine) =>
    (await engine.client.scan({ TableName, ConsistentRead: true })).Items!.map(({ pk }) => pk).sort();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stak-guards-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function create(name: string): Promise<{ path: string; engine: Engine }> {
    const path = join(folder, name);
    const engine = await open(path);
    await engine.execute('CreateTable', hashTable(TableName));
    return { path, engine };
  }

  it('a backup does not continue in another history, nor from a commit that the store has not made', async () => {
    const { path, engine } = await create('store');
    await engine.journal.begin({ limitBytes: 1024 ** 3 });
    for (let n = 0; n < 3; n++) await put(engine, String(n));
    const end = (await engine.journal.position())!;
    const { history, commit, chain, file, offset } = end;
    const read = (more: object) => readJournal(path, { ...end.start, ...more }, end, 1024 ** 2);
    expect(await read({})).toBeDefined();
    await expect(read({ history: `${history}x` })).rejects.toThrow('the journal was restarted');
    const there = { history, commit, chain, file, offset };
    expect(await read(there)).toBeUndefined();
    await expect(read({ ...there, chain: chain + 1 })).rejects.toThrow('is another one in the store');
    await engine.close();
  });

  it('a checkpoint of one store is not applied to another one', async () => {
    const [one, other] = [await create('one'), await create('other')];
    for (let n = 0; n < 50; n++) await put(one.engine, `one ${n}`, 'x'.repeat(500));
    await put(other.engine, 'other');
    await one.engine.close();
    await other.engine.close();
    const checkpoint = readCheckpoint(one.path)!;
    await cp(join(one.path, 'journal'), join(other.path, 'journal'), { recursive: true });
    writeFileSync(join(other.path, 'checkpoint'), encodeCheckpoint({ ...checkpoint, boot: 'another' }));
    const opened = await open(other.path);
    expect(await names(opened)).toEqual(['other']);
    expect(opened.check().problems).toEqual([]);
    await opened.close();
  });
});
