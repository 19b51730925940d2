import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createEngine, type Engine, type Item } from '../src/index.ts';
import { prefixRange, space } from '../src/storage/keys.ts';
import { decodeJson, openStore } from '../src/storage/store.ts';
import type { PartitionState } from '../src/vectors/state.ts';
import { startPeer } from './crash/peers.ts';
import { createRandom } from './crash/random.ts';
import { call, hashTable, openEngine } from './engine-fixture.ts';
import { search, tenantAndCategory, text, vectorIndex, vectorValue } from './vectors-fixture.ts';

// Partitions that are too large to be compared as a whole: codes in flat blocks, and above 8,192 of them in cells. What
// may be missed is counted; what is found must be there, and its score right.

const dimensions = 16;
const { below } = createRandom('vectors');
const random = () => below(1_000_000) / 1_000_000;
const centres = Array.from({ length: 60 }, () => Array.from({ length: dimensions }, () => random() - 0.5));

function randomVector(): number[] {
  const centre = centres[Math.floor(random() * centres.length)]!;
  return centre.map(value => Number((value + 0.3 * (random() - 0.5)).toFixed(6)));
}

type Notes = Map<string, { vector: number[]; category: string }>;

const itemOf = (pk: string, { vector, category }: { vector: number[]; category: string }): Item => ({
  pk: { S: pk },
  tenant: { S: 'all' },
  category: { S: category },
  embedding: vectorValue(...vector),
});

const table = (distance: string) =>
  hashTable('notes', {
    AttributeDefinitions: ['pk', 'tenant', 'category'].map(text),
    VectorIndexes: [
      vectorIndex({ Dimensions: dimensions, DistanceFunction: distance, SearchSchema: tenantAndCategory }),
    ],
  });

const condition = {
  SearchConditionExpression: 'tenant = :t',
  ExpressionAttributeValues: { ':t': { S: 'all' } },
};
const withCategory = {
  SearchConditionExpression: 'tenant = :t AND category = :c',
  ExpressionAttributeValues: { ':t': { S: 'all' }, ':c': { S: 'rare' } },
};

type Call = (operation: string, input: object) => Promise<unknown>;

async function fill(execute: Call, notes: Notes, count: number): Promise<void> {
  for (let i = 0; i < count; i += 25) {
    const requests = Array.from({ length: 25 }, () => {
      const pk = `note-${notes.size}`;
      const one = { vector: randomVector(), category: random() < 0.02 ? 'rare' : 'usual' };
      notes.set(pk, one);
      return { PutRequest: { Item: itemOf(pk, one) } };
    });
    await execute('BatchWriteItem', { RequestItems: { notes: requests } });
  }
}

const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
const scores = {
  COSINE: (a: number[], b: number[]) => 1 - dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)),
  EUCLIDEAN: (a: number[], b: number[]) => Math.sqrt(a.reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0)),
  DOT_PRODUCT: dot,
};
type DistanceName = keyof typeof scores;

// The share of the ten nearest that searches find. Everything they find must be stored, and scored as it is.
async function recallOf(engine: Engine, notes: Notes, by: DistanceName, more: object = {}): Promise<number> {
  const isRare = 'SearchConditionExpression' in more && more !== condition;
  let hits = 0;
  let wanted = 0;
  for (let i = 0; i < 20; i++) {
    const query = randomVector();
    const sign = by === 'DOT_PRODUCT' ? -1 : 1;
    const all = [...notes]
      .filter(([, { category }]) => !isRare || category === 'rare')
      .map(([pk, { vector }]) => ({ pk, score: scores[by](query, vector) }))
      .sort((a, b) => sign * (a.score - b.score));
    const found = await search(engine, query, { ...condition, ...more });
    expect(found.length).toBe(Math.min(10, all.length));
    for (const { pk, score } of found) {
      expect(notes.has(pk)).toBe(true);
      expect(score).toBeCloseTo(scores[by](query, notes.get(pk)!.vector), 4);
    }
    expect(found.map(({ score }) => sign * score)).toEqual(
      found.map(({ score }) => sign * score).toSorted((a, b) => a - b),
    );
    const right = new Set(all.slice(0, 10).map(({ pk }) => pk));
    hits += found.filter(({ pk }) => right.has(pk)).length;
    wanted += right.size;
  }
  return hits / wanted;
}

// A tenth of the notes is replaced, and a tenth is deleted.
async function change(execute: Call, notes: Notes): Promise<void> {
  for (const pk of [...notes.keys()].filter((_, i) => i % 10 < 2)) {
    if (random() < 0.5) {
      await execute('DeleteItem', { TableName: 'notes', Key: { pk: { S: pk } } });
      notes.delete(pk);
    } else {
      const one = { vector: randomVector(), category: 'usual' };
      await execute('PutItem', { TableName: 'notes', Item: itemOf(pk, one) });
      notes.set(pk, one);
    }
  }
}

test.each(['COSINE', 'EUCLIDEAN', 'DOT_PRODUCT'] as const)(
  'a large partition is searched by %s as its items change',
  async by => {
    const engine = await openEngine();
    onTestFinished(() => engine.close());
    await call(engine, 'CreateTable', table(by));
    const execute: Call = (operation, input) => engine.execute(operation, input);
    const notes: Notes = new Map();
    await fill(execute, notes, 5000);
    expect(await recallOf(engine, notes, by)).toBeGreaterThan(0.97); // while codes are being made
    await engine.settled();
    expect(await recallOf(engine, notes, by)).toBeGreaterThan(0.97); // flat blocks
    await fill(execute, notes, 4500);
    await engine.settled();
    expect(await recallOf(engine, notes, by)).toBeGreaterThan(0.9); // cells
    expect(await recallOf(engine, notes, by, withCategory)).toBeGreaterThan(0.9);
    await change(execute, notes);
    expect(await recallOf(engine, notes, by)).toBeGreaterThan(0.9);
    expect(engine.check().problems).toEqual([]);
    const keys = [...notes.keys()];
    for (let i = 0; i < keys.length; i += 25) {
      const requests = keys.slice(i, i + 25).map(pk => ({ DeleteRequest: { Key: { pk: { S: pk } } } }));
      await call(engine, 'BatchWriteItem', { RequestItems: { notes: requests } });
    }
    await engine.settled();
    expect(await search(engine, randomVector(), condition)).toEqual([]);
    const Item = itemOf('again', { vector: randomVector(), category: 'usual' });
    await call(engine, 'PutItem', { TableName: 'notes', Item });
    expect(await search(engine, randomVector(), condition)).toHaveLength(1);
    expect(engine.check().problems).toEqual([]);
  },
  60_000,
);

// What the store says of its only large partition.
function stateIn(folder: string): PartitionState {
  const store = openStore(folder);
  try {
    const states = [...store.range(prefixRange(Buffer.of(space.vectorState)), decodeJson)];
    expect(states).toHaveLength(1);
    return states[0]!.value as PartitionState;
  } finally {
    void store.close();
  }
}

test('new codes are added to the cells, and all are sorted again when many were added', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stak-vectors-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const notes: Notes = new Map();
  const after = async (more: number): Promise<PartitionState> => {
    const engine = await createEngine({ path: folder, sweepIntervalMs: 0 });
    try {
      const execute: Call = (operation, input) => engine.execute(operation, input);
      if (notes.size === 0) await execute('CreateTable', table('COSINE'));
      await fill(execute, notes, more);
      await engine.settled();
      // A build may have begun before the last were written.
      await recallOf(engine, notes, 'COSINE');
      await engine.settled();
      expect(await recallOf(engine, notes, 'COSINE')).toBeGreaterThan(0.9);
      expect(await recallOf(engine, notes, 'COSINE', withCategory)).toBeGreaterThan(0.9);
      expect(engine.check().problems).toEqual([]);
    } finally {
      await engine.close();
    }
    return stateIn(folder);
  };
  const first = await after(9000);
  expect(first).toMatchObject({ build: expect.any(Number), addition: 0 });
  const second = await after(4700);
  expect(second).toMatchObject({ build: first.build, addition: expect.any(Number) });
  expect(second.added).toBeGreaterThan(4096);
  expect(second.flat).toBeLessThanOrEqual(4096);
  const third = await after(4700);
  expect(third.build).not.toBe(first.build);
  expect(third.sorted).toBeGreaterThan(first.sorted + second.added);
  expect(third.flat).toBeLessThanOrEqual(4096);
}, 90_000);

test('an index survives the killing of the process that builds it, and is then as one that was built again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stak-vectors-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const notes: Notes = new Map();
  const peer = await startPeer(folder);
  const execute: Call = (operation, input) => peer.call(operation, input);
  await execute('CreateTable', table('COSINE'));
  await fill(execute, notes, 9000); // the last of them begin a build
  await peer.kill();
  const engine = await createEngine({ path: folder, sweepIntervalMs: 0 });
  onTestFinished(() => engine.close());
  expect(engine.check().problems).toEqual([]);
  expect(await recallOf(engine, notes, 'COSINE')).toBeGreaterThan(0.9);
  await engine.settled(); // the searches have begun what the other process could not finish
  expect(await recallOf(engine, notes, 'COSINE')).toBeGreaterThan(0.9);
  const queries = Array.from({ length: 20 }, randomVector);
  const before = await Promise.all(queries.map(query => search(engine, query, condition)));
  await call(engine, 'UpdateTable', {
    TableName: 'notes',
    VectorIndexUpdates: [{ Delete: { IndexName: 'byMeaning' } }],
  });
  await engine.settled();
  const [Create] = (table('COSINE') as { VectorIndexes?: object[] }).VectorIndexes!;
  await call(engine, 'UpdateTable', {
    TableName: 'notes',
    AttributeDefinitions: ['tenant', 'category'].map(text),
    VectorIndexUpdates: [{ Create }],
  });
  await engine.settled();
  const again = await Promise.all(queries.map(query => search(engine, query, condition)));
  const same = before.flatMap((found, i) =>
    found.filter(one => again[i]!.some(({ pk, score }) => pk === one.pk && score === one.score)),
  );
  expect(same.length).toBeGreaterThan(0.9 * 10 * queries.length);
  expect(engine.check().problems).toEqual([]);
}, 60_000);
