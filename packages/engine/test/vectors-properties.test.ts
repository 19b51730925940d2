import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Item } from '../src/index.ts';
import { call, openEngine } from './engine-fixture.ts';
import { search, vectorIndexes, vectorTable, vectorValue } from './vectors-fixture.ts';

// Random histories of writes, and searches of what they left, beside a map of items and the plain formulas.

type Model = Map<string, { vector: number[]; tenant?: string; category?: string }>;

const name = fc.constantFrom(...Array.from({ length: 12 }, (_, i) => `n${i}`));
const small = fc.integer({ min: -3, max: 3 });
const vector = fc.tuple(small, small, small);
const part = fc.option(fc.constantFrom('x', 'y'), { nil: undefined });
const content = fc.record({ vector: fc.option(vector, { nil: undefined }), tenant: part, category: part });
const write = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), pk: name, content }),
  fc.record({ kind: fc.constant('delete' as const), pk: name }),
  fc.record({ kind: fc.constant('move' as const), pk: name, tenant: fc.constantFrom('x', 'y') }),
  fc.record({ kind: fc.constant('turn' as const), pk: name, vector }),
  fc.record({ kind: fc.constant('forget' as const), pk: name }),
  fc.record({ kind: fc.constant('expire' as const), pk: name }),
  fc.record({ kind: fc.constant('together' as const), put: name, drop: name, content }),
);
type Write = typeof write extends fc.Arbitrary<infer T> ? T : never;

const distances = {
  COSINE: (a: number[], b: number[]) => {
    const lengths = Math.sqrt(dot(a, a) * dot(b, b));
    return lengths === 0 ? 1 : Math.min(2, Math.max(0, 1 - dot(a, b) / lengths));
  },
  EUCLIDEAN: (a: number[], b: number[]) => Math.sqrt(a.reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0)),
  DOT_PRODUCT: (a: number[], b: number[]) => dot(a, b),
};
const dot = (a: number[], b: number[]): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);

type DistanceName = keyof typeof distances;

function nearestIn(
  model: Model,
  wanted: number[],
  by: DistanceName,
  isWanted: (one: Model extends Map<string, infer T> ? T : never) => boolean,
) {
  const sign = by === 'DOT_PRODUCT' ? -1 : 1;
  return [...model]
    .filter(([, one]) => isWanted(one))
    .map(([pk, one]) => ({ pk, score: Math.fround(distances[by](wanted, one.vector)) + 0 }))
    .sort((a, b) => sign * (a.score - b.score) || a.pk.length - b.pk.length || (a.pk < b.pk ? -1 : 1));
}

const itemOf = (pk: string, one: { vector?: number[]; tenant?: string; category?: string }): Item => ({
  pk: { S: pk },
  ...(one.vector && { embedding: vectorValue(...one.vector) }),
  ...(one.tenant && { tenant: { S: one.tenant } }),
  ...(one.category && { category: { S: one.category } }),
});

test.each(['COSINE', 'EUCLIDEAN', 'DOT_PRODUCT'] as const)('searches by %s equal the formula', async by => {
  await fc.assert(
    fc.asyncProperty(fc.array(write, { maxLength: 40 }), vector, async (writes, wanted) => {
      const clock = { ms: Date.UTC(2026, 0, 1), now: () => clock.ms };
      const engine = await openEngine({ clock });
      try {
        const VectorIndexes = vectorIndexes.map(index => ({ ...index, DistanceFunction: by }));
        await call(engine, 'CreateTable', vectorTable('notes', { VectorIndexes }));
        await call(engine, 'UpdateTimeToLive', {
          TableName: 'notes',
          TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
        });
        await engine.settled();
        const model: Map<string, { vector?: number[]; tenant?: string; category?: string }> = new Map();
        for (const one of writes) await apply(engine, clock, model, one);
        const indexed = new Map([...model].filter(([, { vector: own }]) => own)) as Model;
        const ask = { TopK: 100 };
        expect(await search(engine, wanted, ask)).toEqual(nearestIn(indexed, wanted, by, () => true));
        expect(
          await search(engine, wanted, {
            ...ask,
            IndexName: 'ofTenant',
            SearchConditionExpression: 'tenant = :x AND category = :x',
            ExpressionAttributeValues: { ':x': { S: 'x' } },
          }),
        ).toEqual(
          nearestIn(indexed, wanted, by, ({ tenant, category }) => tenant === 'x' && category === 'x'),
        );
        expect((await search(engine, wanted, { TopK: 3 })).length).toBe(Math.min(3, indexed.size));
        expect(engine.check().problems).toEqual([]);
      } finally {
        await engine.close();
      }
    }),
    { numRuns: 40 },
  );
});

type Engine = Awaited<ReturnType<typeof openEngine>>;

async function apply(
  engine: Engine,
  clock: { ms: number },
  model: Map<string, { vector?: number[]; tenant?: string; category?: string }>,
  one: Write,
): Promise<void> {
  const TableName = 'notes';
  const Key = (pk: string) => ({ pk: { S: pk } });
  const update = (pk: string, UpdateExpression: string, ExpressionAttributeValues?: object) =>
    call(engine, 'UpdateItem', { TableName, Key: Key(pk), UpdateExpression, ExpressionAttributeValues });
  switch (one.kind) {
    case 'put':
      await call(engine, 'PutItem', { TableName, Item: itemOf(one.pk, one.content) });
      model.set(one.pk, one.content);
      return;
    case 'delete':
      await call(engine, 'DeleteItem', { TableName, Key: Key(one.pk) });
      model.delete(one.pk);
      return;
    case 'move':
      await update(one.pk, 'SET tenant = :t', { ':t': { S: one.tenant } });
      model.set(one.pk, { ...model.get(one.pk), tenant: one.tenant });
      return;
    case 'turn':
      await update(one.pk, 'SET embedding = :v', { ':v': vectorValue(...one.vector) });
      model.set(one.pk, { ...model.get(one.pk), vector: one.vector });
      return;
    case 'forget':
      if (!model.has(one.pk)) return;
      await update(one.pk, 'REMOVE embedding');
      model.set(one.pk, { ...model.get(one.pk), vector: undefined });
      return;
    case 'expire':
      if (!model.has(one.pk)) return;
      await update(one.pk, 'SET expires_at = :u', { ':u': { N: String(clock.ms / 1000 + 1) } });
      clock.ms += 10_000;
      await engine.sweep();
      model.delete(one.pk);
      return;
    case 'together': {
      if (one.put === one.drop) return;
      const Put = { TableName, Item: itemOf(one.put, one.content) };
      const Delete = { TableName, Key: Key(one.drop) };
      await call(engine, 'TransactWriteItems', { TransactItems: [{ Put }, { Delete }] });
      model.set(one.put, one.content);
      model.delete(one.drop);
    }
  }
}
