import { createEngine } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { type Change, engineSource, type StreamRecord, toLambda } from '@stak/streams';
import { type AnyEntity, createStore, createTables, defineTable, entity } from '@stak/table';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { follow, planOf } from '../tables.ts';
import { createRows, type Row } from './rows.ts';

const table = defineTable({
  name: 'things',
  keys: { partition: 'pk', sort: 'sk' },
  indexes: { ByColour: { partition: 'colour_pk', sort: 'colour_sk' } },
  stream: 'NEW_AND_OLD_IMAGES',
});
const schema = z.object({
  id: z.string(),
  colour: z.string().optional(),
  secret: z.string().optional(),
  more: z.record(z.string(), z.unknown()).optional(),
});
const define = (name: string, inKeyOnly: 'id'[] = []) =>
  entity(table, {
    name,
    kind: name,
    schema,
    key: { partition: `${name.toUpperCase()}#{id}`, sort: 'ROOT' },
    indexes: { ByColour: { partition: 'COLOUR#{colour}', sort: '{id}' } },
    inKeyOnly,
  });
const entities = {
  plain: define('plain'),
  hidden: define('hidden'),
  short: define('short', ['id']),
};
const ownerOf = ({ colour }: { colour?: string | undefined }) => ({ account_id: colour ?? 'nobody' });
const plan = planOf({
  table,
  entities: [
    follow(entities.plain, { ownerOf }),
    follow(entities.hidden, { ownerOf, omit: ['secret'] }),
    follow(entities.short, { ownerOf }),
  ],
});

const special = [
  0.1,
  -1e15,
  9007199254740993n,
  new Set(['a']),
  new Uint8Array([1, 2]),
  '\u{1F600}',
  '"}',
  '\u2028',
];
const values = [fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constantFrom(...special)];
const name = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('10', '2', 'pk', '__proto__'));
const value = fc.anything({ values, key: name, maxDepth: 2 });
const more = fc.dictionary(name, value);
const step = fc.record({
  entity: fc.constantFrom('plain', 'hidden', 'short', 'other'),
  id: fc.constantFrom('1', 'ü'),
  action: fc.constantFrom('put', 'put', 'put', 'keys last', 'delete'),
  colour: fc.option(fc.constantFrom('red', 'blue'), { nil: undefined }),
  secret: fc.option(fc.string(), { nil: undefined }),
  more: fc.option(more, { nil: undefined }),
});

const log = createLogger({ level: 'silent' });

async function rowsFrom(Records: StreamRecord[]): Promise<Row[]> {
  const rows: Row[] = [];
  const rowsOf = createRows(plan, false);
  const subscription = {
    name: 'rows',
    table,
    entities: [],
    handle: () => {},
    handleOther: (change: Change<AnyEntity>) => void rows.push(...rowsOf(change)),
    concurrency: 1,
  };
  expect(await toLambda(subscription, { log })({ Records })).toEqual({ batchItemFailures: [] });
  return rows;
}

// As another store has it: only the engine's own record knows the JSON of its images.
const copyOf = (record: StreamRecord): StreamRecord =>
  (record as StreamRecord & { toJSON(): StreamRecord }).toJSON();

// The order of attributes says nothing.
const withValues = ({ old, new: current, ...row }: Row) => ({
  ...row,
  old: old && JSON.parse(old),
  new: current && JSON.parse(current),
});

async function allRecords(engine: Awaited<ReturnType<typeof createEngine>>): Promise<StreamRecord[]> {
  const source = engineSource(engine);
  const { Streams } = await source.listStreams({ TableName: table.name });
  const StreamArn = Streams![0]!.StreamArn!;
  const { StreamDescription } = await source.describeStream({ StreamArn });
  const records: StreamRecord[] = [];
  for (const { ShardId } of StreamDescription!.Shards!) {
    const from = { StreamArn, ShardId: ShardId!, ShardIteratorType: 'TRIM_HORIZON' } as const;
    const { ShardIterator } = await source.getShardIterator(from);
    records.push(...(await source.getRecords({ ShardIterator: ShardIterator! })).Records!);
  }
  return records;
}

test('the stored JSON of an item makes the same rows as its attributes', async () => {
  let shortcuts = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async steps => {
      const engine = await createEngine({ path: ':memory:' });
      try {
        const store = createStore({ client: engine.client });
        await createTables(engine, [table]);
        for (const { entity: name, id, action, ...one } of steps) {
          const key = { pk: `${name.toUpperCase()}#${id}`, sk: 'ROOT' };
          const item = Object.fromEntries(
            Object.entries({ id, ...one }).filter(([, is]) => is !== undefined),
          );
          if (action === 'delete') await engine.client.delete({ TableName: table.name, Key: key });
          else if (name === 'other' || action === 'keys last')
            await engine.client.put({ TableName: table.name, Item: { kind: name, ...item, ...key } });
          else await store.put(entities[name], { id, ...one });
        }
        const records = await allRecords(engine);
        const rows = await rowsFrom(records);
        expect(rows.map(withValues)).toEqual((await rowsFrom(records.map(copyOf))).map(withValues));
        shortcuts += rows.filter(({ entity, new: text }) => entity === 'plain' && text).length;
      } finally {
        await engine.close();
      }
    }),
    { numRuns: 60 },
  );
  expect(shortcuts).toBeGreaterThan(50);
});
