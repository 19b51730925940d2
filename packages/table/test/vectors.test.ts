import { createEngine, createHttpServer } from '@stak/engine';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { awsClient } from '../src/client/aws-client.ts';
import {
  type ControlPlane,
  controlWithPrefix,
  createLedger,
  createStore,
  createTables,
  type DynamoClient,
  defineKeys,
  defineQuery,
  defineTable,
  designDoc,
  entity,
  withPrefix,
} from '../src/index.ts';

const keys = defineKeys({
  name: 'notes',
  keys: { partition: 'pk', sort: 'sk' },
  vectors: { meaning: { attribute: 'embedding', dimensions: 3 } },
});
const schema = z.object({
  user: z.string(),
  id: z.string(),
  text: z.string(),
  embedding: z.array(z.number()).optional(),
});
const note = entity(keys, {
  name: 'note',
  schema,
  key: { partition: 'USER#{user}', sort: 'NOTE#{id}' },
  vector: 'meaning',
});
const fact = entity(keys, {
  name: 'fact',
  schema,
  key: { partition: 'USER#{user}', sort: 'FACT#{id}' },
  vector: 'meaning',
});
const notesOfUser = defineQuery('notes of a user', { of: note });
const allOfUser = defineQuery('all of a user', { of: [note, fact] });
const table = defineTable(keys, { entities: [note, fact], queries: [notesOfUser, allOfUser] });

type Target = { client: DynamoClient; control: ControlPlane };

async function embedded(): Promise<Target> {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  onTestFinished(() => engine.close());
  return { client: engine.client, control: engine };
}

const targets: Record<string, () => Promise<Target>> = {
  'the embedded engine': embedded,
  'the embedded engine with a prefix': async () => {
    const { client, control } = await embedded();
    return { client: withPrefix(client, 'dev.'), control: controlWithPrefix(control, 'dev.') };
  },
  'the AWS SDK': async () => {
    const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
    const server = createHttpServer(engine, { port: 0 });
    const { url } = await server.listen();
    const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
    const client = awsClient({ region: 'us-east-1', endpoint: url, credentials });
    onTestFinished(async () => {
      client.close();
      await server.close();
      await engine.close();
    });
    return { client, control: client };
  },
  'a store that refuses vector indexes': async () => {
    const { client, control } = await embedded();
    const refuse: ControlPlane['execute'] = async (operation, input) => {
      if ('VectorIndexUpdates' in input)
        throw Object.assign(new Error('Unknown field VectorIndexUpdates'), { name: 'ValidationException' });
      return control.execute(operation, input);
    };
    return { client, control: { execute: refuse } };
  },
  'a store that does not know the operation': async () => {
    const { client, control } = await embedded();
    const searchVectors = async () => {
      throw Object.assign(new Error('SearchVectors'), { name: 'UnknownOperationException' });
    };
    return { client: { ...client, searchVectors }, control };
  },
};

describe.each(Object.entries(targets))('%s', (name, open) => {
  it('finds the nearest items of a partition', async () => {
    const { client, control } = await open();
    const [report] = await createTables(control, [table]);
    expect(report!.done).toContain(
      name === 'a store that refuses vector indexes'
        ? 'no vector index meaning, so searches compare all items: Unknown field VectorIndexUpdates'
        : 'add the vector index meaning',
    );
    expect((await createTables(control, [table]))[0]!.done.filter(what => what.startsWith('add'))).toEqual(
      [],
    );
    const ledger = createLedger();
    const store = createStore({ client, ledger });
    const put = (id: string, embedding: number[] | undefined, user = 'ann') =>
      store.put(note, { user, id, text: `text of ${id}`, embedding });
    await put('near', [1, 0.1, 0]);
    await put('far', [-1, 0, 0]);
    await put('none', undefined);
    await put('other', [1, 0, 0], 'bob');
    await store.put(fact, { user: 'ann', id: 'own', text: 'a fact', embedding: [1, 1, 0] });
    const vector = [1, 0, 0];
    const found = await store.search(notesOfUser, { user: 'ann' }, { vector });
    expect(found.map(({ result }) => result)).toEqual([
      { user: 'ann', id: 'near', text: 'text of near' },
      { user: 'ann', id: 'far', text: 'text of far' },
    ]);
    expect(found[0]!.score).toBeCloseTo(1 - 1 / Math.sqrt(1.01), 6);
    expect(found[1]!.score).toBeCloseTo(2, 6);
    const mixed = await store.search(allOfUser, { user: 'ann' }, { vector, limit: 2 });
    expect(mixed.map(({ result }) => [result.entity, result.item.id])).toEqual([
      ['note', 'near'],
      ['fact', 'own'],
    ]);
    expect(ledger.entries().some(({ pattern }) => pattern === 'notes of a user')).toBe(true);
    await put('far', [1, 0, 0]);
    await store.delete(note, { user: 'ann', id: 'near' });
    const after = await store.search(notesOfUser, { user: 'ann' }, { vector });
    expect(after.map(({ result, score }) => [result.id, score])).toEqual([['far', 0]]);
    expect(await store.search(notesOfUser, { user: 'nobody' }, { vector })).toEqual([]);
    await expect(store.search(notesOfUser, { user: 'ann' }, { vector: [1, 0] })).rejects.toThrow(
      'meaning compares vectors of 3 numbers',
    );
    await expect(store.search(notesOfUser, { user: 'ann' }, { vector, limit: 101 })).rejects.toThrow(
      'a search returns 1 to 100 items',
    );
  });
});

it('items of another entity do not displace those that are searched for', async () => {
  const { client, control } = await embedded();
  await createTables(control, [table]);
  const store = createStore({ client });
  await store.put(note, { user: 'ann', id: 'far', text: '', embedding: [0, 1, 0] });
  for (const count of [1, 100]) {
    const near = { user: 'ann', text: '', embedding: [1, 0, 0] };
    for (let i = 0; i < count; i++) await store.put(fact, { ...near, id: `${i}` });
    const found = await store.search(notesOfUser, { user: 'ann' }, { vector: [1, 0, 0], limit: 1 });
    expect(found).toEqual([{ result: { user: 'ann', id: 'far', text: '' }, score: 1 }]);
  }
});

it('another index by that name contradicts the design', async () => {
  const { control } = await embedded();
  await createTables(control, [table]);
  const other = defineTable(
    defineKeys({
      name: 'notes',
      keys: { partition: 'pk', sort: 'sk' },
      vectors: { meaning: { attribute: 'embedding', dimensions: 4, distance: 'EUCLIDEAN' } },
    }),
    { entities: [], queries: [] },
  );
  await expect(createTables(control, [other])).rejects.toThrow(
    'the vector index meaning is 3 numbers of embedding by COSINE, within pk, ' +
      'designed as 4 numbers of embedding by EUCLIDEAN, within pk',
  );
});

it('a design names its vector indexes', () => {
  expect(designDoc(table)).toContain('| `meaning` | `embedding`, 3 numbers | COSINE | note, fact |');
});

it('an entity is in a vector index of its table, with its attribute', () => {
  const key = { partition: 'USER#{user}', sort: 'X#{id}' } as const;
  expect(() => entity(keys, { name: 'x', schema, key, vector: 'none' })).toThrow(
    'x: notes has no vector index none',
  );
  const without = schema.omit({ embedding: true });
  expect(() => entity(keys, { name: 'x', schema: without, key, vector: 'meaning' })).toThrow(
    'x: its schema has no embedding, which is in meaning',
  );
});

it('a query of entities without vectors is not searched', async () => {
  const { client } = await embedded();
  const plain = entity(keys, { name: 'plain', schema, key: { partition: 'P#{user}', sort: 'P#{id}' } });
  const query = defineQuery('plain ones', { of: plain });
  await expect(createStore({ client }).search(query, { user: 'ann' }, { vector: [1, 0, 0] })).rejects.toThrow(
    'query "plain ones" does not read a partition of one vector index',
  );
});
