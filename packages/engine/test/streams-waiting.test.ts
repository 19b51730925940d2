import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Context } from '../src/context.ts';
import type { Engine } from '../src/engine.ts';
import { createStreamHub } from '../src/streams/hub.ts';
import { call, hashTable, openEngine, readStream, streaming, streamOf } from './engine-fixture.ts';

// Waiting for the next change of a stream.

let engine: Engine;

beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

const put = (pk: string, TableName = 'notes') =>
  call(engine, 'PutItem', { TableName, Item: { pk: { S: pk } } });
const setStream = (enabled: boolean) =>
  call(engine, 'UpdateTable', {
    TableName: 'notes',
    ...(enabled ? streaming() : { StreamSpecification: { StreamEnabled: false } }),
  });

async function createNotes(): Promise<string> {
  await call(engine, 'CreateTable', hashTable('notes', streaming()));
  return streamOf(engine, 'notes');
}

test('ends with the next change of that stream', async () => {
  const arn = await createNotes();
  await call(engine, 'CreateTable', hashTable('other', streaming()));
  let woken = false;
  const waiting = engine.waitForChange(arn).then(() => {
    woken = true;
  });
  await put('a', 'other');
  await call(engine, 'CreateTable', hashTable('third'));
  expect(woken).toBe(false);
  await put('a');
  await waiting;
  expect(await readStream(engine, arn)).toHaveLength(1);
});

test('misses nothing between the read and the wait', async () => {
  const arn = await createNotes();
  const position = engine.streamPosition();
  await put('a');
  await engine.waitForChange(arn, undefined, position);
});

test('ends when the shards roll over, the stream ends or the table is deleted', async () => {
  await createNotes();
  const changes = [() => engine.rollShards('notes'), () => setStream(false)];
  for (const change of changes) {
    const waiting = engine.waitForChange('notes');
    await change();
    await waiting;
  }
  await setStream(true);
  const waiting = engine.waitForChange('notes');
  await call(engine, 'DeleteTable', { TableName: 'notes' });
  await waiting;
});

test('can be aborted', async () => {
  await createNotes();
  const giveUp = new AbortController();
  const waiting = engine.waitForChange('notes', giveUp.signal);
  giveUp.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(engine.waitForChange('notes', giveUp.signal)).rejects.toThrow('enough');
});

test('ends when the engine closes', async () => {
  await createNotes();
  const waiting = expect(engine.waitForChange('notes')).rejects.toThrow('closing');
  await engine.close();
  await waiting;
  await expect(engine.waitForChange('notes')).rejects.toThrow();
});

test("notices another engine's commits by polling", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stak-streams-'));
  await engine.close();
  engine = await openEngine({ path: folder, pollIntervalMs: 5 });
  await createNotes();
  const other = await openEngine({ path: folder });
  try {
    const waiting = engine.waitForChange('notes');
    await call(other, 'PutItem', { TableName: 'notes', Item: { pk: { S: 'a' } } });
    await waiting;
  } finally {
    await other.close();
    await engine.close();
    rmSync(folder, { recursive: true });
  }
});

test('a store that cannot be read reports no change until it can be', async () => {
  let failed = 0;
  let isBroken = true;
  const read = () => {
    if (!isBroken) return;
    failed += 1;
    throw new Error('MDB_PANIC');
  };
  let streams: object[] | undefined = [];
  const store = { refresh: () => failed, get: read, keys: () => [] } as unknown as Context['store'];
  const catalog = { find: () => streams && { streams } } as unknown as Context['catalog'];
  const hub = createStreamHub({ store, catalog }, { pollMs: () => 1 });
  const waiting = hub.waitForChange('notes', undefined, 0);
  await vi.waitUntil(() => failed > 2, 20_000);
  expect(hub.waiting()).toBe(1);
  isBroken = false;
  streams = undefined; // gone
  await waiting;
});
