import type { Engine, NativeItem } from '@stak/engine';

// A model in plain maps of what a store should hold, and operations that change both. Some tables have a stream and
// indexes, some have neither; items expire; tables and indexes come and go; transactions touch several tables.

type Items = Map<string, NativeItem>;
export type Model = { tables: Map<string, Items>; indexes: Set<string> };

const first = 'orders';
const second = 'stock';
const late = 'visitors';
const startUnits = 100;
const counters = 4;

const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' });
const hash = (AttributeName: string) => ({ AttributeName, KeyType: 'HASH' });
const all = { ProjectionType: 'ALL' };

export async function createModel(engine: Engine): Promise<Model> {
  await engine.execute('CreateTable', {
    TableName: first,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'owner'].map(text),
    KeySchema: [hash('pk')],
    GlobalSecondaryIndexes: [{ IndexName: 'by-owner', KeySchema: [hash('owner')], Projection: all }],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
  await createPlain(engine, second);
  await engine.execute('UpdateTimeToLive', {
    TableName: first,
    TimeToLiveSpecification: { Enabled: true, AttributeName: 'expires' },
  });
  await engine.settled();
  const stock: Items = new Map();
  for (let n = 0; n < counters; n++) {
    const item = { pk: `counter-${n}`, units: startUnits };
    await engine.client.put({ TableName: second, Item: item });
    stock.set(item.pk, item);
  }
  return { tables: new Map([[first, new Map()] as const, [second, stock] as const]), indexes: new Set() };
}

const createPlain = (engine: Engine, TableName: string) =>
  engine.execute('CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [text('pk')],
    KeySchema: [hash('pk')],
  });

export const copyModel = ({ tables, indexes }: Model): Model => ({
  tables: new Map([...tables].map(([name, items]) => [name, new Map(items)])),
  indexes: new Set(indexes),
});

type Below = (limit: number) => number;

// One change of the store and of the model.
export async function step(engine: Engine, model: Model, below: Below, n: number): Promise<void> {
  const { client } = engine;
  const orders = model.tables.get(first)!;
  const kind = below(24);
  if (kind < 10) {
    const expires = below(4) === 0 ? { expires: Math.floor(Date.now() / 1000) - 60 } : {};
    const item = { pk: `order-${below(40)}`, owner: `owner-${below(5)}`, n, ...expires };
    await client.put({ TableName: first, Item: item });
    orders.set(item.pk, item);
  } else if (kind < 13) {
    const pk = `order-${below(40)}`;
    await client.delete({ TableName: first, Key: { pk } });
    orders.delete(pk);
  } else if (kind < 19) await moveUnits(engine, model, below, n);
  else if (kind < 21) {
    await engine.sweep();
    for (const [pk, { expires }] of orders) if (expires !== undefined) orders.delete(pk);
  } else if (kind < 22) await toggleIndex(engine, model);
  else if (model.tables.has(late)) {
    await engine.execute('DeleteTable', { TableName: late });
    await engine.settled();
    model.tables.delete(late);
  } else {
    await createPlain(engine, late);
    await client.put({ TableName: late, Item: { pk: `visitor-${n}` } });
    model.tables.set(late, new Map([[`visitor-${n}`, { pk: `visitor-${n}` }]]));
  }
}

// From one counter to another, with an order that says so: all of it or nothing.
async function moveUnits(engine: Engine, model: Model, below: Below, n: number): Promise<void> {
  const [from, to] = [below(counters), below(counters - 1)];
  const pks = [`counter-${from}`, `counter-${to >= from ? to + 1 : to}`];
  const item = { pk: `move-${n}`, owner: 'mover', n };
  const add = (pk: string, units: number) => ({
    Update: {
      TableName: second,
      Key: { pk },
      UpdateExpression: 'ADD units :units',
      ExpressionAttributeValues: { ':units': units },
    },
  });
  await engine.client.transactWrite({
    TransactItems: [add(pks[0]!, -1), add(pks[1]!, 1), { Put: { TableName: first, Item: item } }],
  });
  const stock = model.tables.get(second)!;
  for (const [i, pk] of pks.entries())
    stock.set(pk, { pk, units: (stock.get(pk)!.units as number) + (i === 0 ? -1 : 1) });
  model.tables.get(first)!.set(item.pk, item);
}

async function toggleIndex(engine: Engine, { indexes }: Model): Promise<void> {
  const has = indexes.has('by-n');
  const change = has
    ? { Delete: { IndexName: 'by-n' } }
    : { Create: { IndexName: 'by-n', KeySchema: [hash('n')], Projection: all } };
  await engine.execute('UpdateTable', {
    TableName: first,
    AttributeDefinitions: has ? [] : [{ AttributeName: 'n', AttributeType: 'N' }],
    GlobalSecondaryIndexUpdates: [change],
  });
  await engine.settled();
  if (has) indexes.delete('by-n');
  else indexes.add('by-n');
}

// Describes the differences; nothing if a store is as the model says.
export async function compare(engine: Engine, { tables, indexes }: Model): Promise<string[]> {
  const { TableNames } = (await engine.execute('ListTables', {})) as { TableNames: string[] };
  const problems = engine.check().problems.map(({ message }) => message);
  if (TableNames.sort().join() !== [...tables.keys()].sort().join())
    problems.push(`tables ${TableNames.join()}`);
  for (const [name, items] of tables)
    if (TableNames.includes(name)) problems.push(...difference(name, items, await readItems(engine, name)));
  const orders = tables.get(first)!;
  for (const index of ['by-owner', ...indexes])
    problems.push(...difference(index, orders, await readItems(engine, first, index)));
  return problems;
}

export async function readItems(engine: Engine, TableName: string, IndexName?: string): Promise<Items> {
  const items: Items = new Map();
  let ExclusiveStartKey: NativeItem | undefined;
  do {
    const page = await engine.client.scan({
      TableName,
      ...(IndexName && { IndexName }),
      ...(ExclusiveStartKey && { ExclusiveStartKey }),
    });
    for (const item of page.Items ?? []) items.set(String(item.pk), item);
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return items;
}

function difference(name: string, wanted: Items, found: Items): string[] {
  const textOf = (item: NativeItem | undefined) =>
    item && JSON.stringify(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  return [...new Set([...wanted.keys(), ...found.keys()])]
    .filter(pk => textOf(wanted.get(pk)) !== textOf(found.get(pk)))
    .map(
      pk =>
        `${name} ${pk}: ${textOf(found.get(pk))?.slice(-200)} instead of ${textOf(wanted.get(pk))?.slice(-200)}`,
    );
}
