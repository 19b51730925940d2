import { Entity, Service } from 'electrodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../src/index.ts';

// ElectroDB as it comes, on the engine in process.

const table = 'electro';
const model = (entity: string) => ({ entity, version: '1', service: 'shop' });

let engine: Engine;
let shop: ReturnType<typeof createShop>;

function createShop() {
  const client = engine.documentClient();
  const customers = new Entity(
    {
      model: model('customer'),
      attributes: {
        customerId: { type: 'string', required: true },
        name: { type: 'string', required: true },
        visits: { type: 'number', default: 0 },
        tags: { type: 'set', items: 'string' },
        address: {
          type: 'map',
          properties: { city: { type: 'string' }, lines: { type: 'list', items: { type: 'string' } } },
        },
      },
      indexes: {
        customer: {
          collection: 'account',
          pk: { field: 'pk', composite: ['customerId'] },
          sk: { field: 'sk', composite: [] },
        },
      },
    } as const,
    { client, table },
  );
  const orders = new Entity(
    {
      model: model('order'),
      attributes: {
        customerId: { type: 'string', required: true },
        orderId: { type: 'string', required: true },
        status: { type: ['open', 'paid', 'sent'] as const, required: true, default: 'open' },
        total: { type: 'number', required: true },
        placedAt: { type: 'string', required: true },
      },
      indexes: {
        byCustomer: {
          collection: 'account',
          pk: { field: 'pk', composite: ['customerId'] },
          sk: { field: 'sk', composite: ['orderId'] },
        },
        byStatus: {
          index: 'gsi1',
          pk: { field: 'gsi1pk', composite: ['status'] },
          sk: { field: 'gsi1sk', composite: ['placedAt'] },
        },
      },
    } as const,
    { client, table },
  );
  return new Service({ customers, orders });
}

beforeAll(async () => {
  engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  const string = (name: string) => ({ AttributeName: name, AttributeType: 'S' });
  const keys = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ];
  await engine.execute('CreateTable', {
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keys('pk', 'sk'),
    AttributeDefinitions: ['pk', 'sk', 'gsi1pk', 'gsi1sk'].map(string),
    GlobalSecondaryIndexes: [
      { IndexName: 'gsi1', KeySchema: keys('gsi1pk', 'gsi1sk'), Projection: { ProjectionType: 'ALL' } },
    ],
  });
  shop = createShop();
});
afterAll(() => engine.close());

const order = (orderId: string, day: number, total = 10) => ({
  customerId: 'c1',
  orderId,
  total,
  placedAt: `2026-01-0${day}`,
});

describe('ElectroDB', () => {
  it('creates, gets and refuses to create again', async () => {
    const customer = {
      customerId: 'c1',
      name: 'Ada',
      tags: ['new'],
      address: { city: 'Rome', lines: ['1', '2'] },
    };
    await shop.entities.customers.create(customer).go();
    const { data } = await shop.entities.customers.get({ customerId: 'c1' }).go();
    expect(data).toEqual({ ...customer, visits: 0 });
    await expect(shop.entities.customers.create(customer).go()).rejects.toThrow(/conditional request failed/);
    expect((await shop.entities.customers.get({ customerId: 'c2' }).go()).data).toBeNull();
  });

  it('updates, patches and deletes', async () => {
    const { customers } = shop.entities;
    const { data } = await customers
      .patch({ customerId: 'c1' })
      .set({ name: 'Ada L.' })
      .add({ visits: 2, tags: ['seen'] })
      .data(({ address }, { set }) => set(address.city, 'Turin'))
      .go({ response: 'all_new' });
    expect(data).toMatchObject({
      name: 'Ada L.',
      visits: 2,
      tags: ['new', 'seen'],
      address: { city: 'Turin' },
    });
    await expect(customers.patch({ customerId: 'c9' }).set({ name: 'x' }).go()).rejects.toThrow(
      /conditional/,
    );
    await customers.upsert({ customerId: 'c2', name: 'Bob' }).go();
    await customers.remove({ customerId: 'c2' }).go();
    expect((await customers.get({ customerId: 'c2' }).go()).data).toBeNull();
  });

  it('writes and reads in batches', async () => {
    const { orders } = shop.entities;
    const { unprocessed } = await orders.put([order('o1', 1), order('o2', 2), order('o3', 3)]).go();
    expect(unprocessed).toEqual([]);
    const { data } = await orders.get(['o1', 'o3'].map(orderId => ({ customerId: 'c1', orderId }))).go();
    expect(data.map(({ orderId }) => orderId).sort()).toEqual(['o1', 'o3']);
    await orders.delete([{ customerId: 'c1', orderId: 'o3' }]).go();
  });

  it('queries by key and by index, with filters and pages', async () => {
    const { orders } = shop.entities;
    const primary = await orders.query.byCustomer({ customerId: 'c1' }).go({ order: 'desc' });
    expect(primary.data.map(({ orderId }) => orderId)).toEqual(['o2', 'o1']);
    await orders
      .update({ customerId: 'c1', orderId: 'o2' })
      .set({ status: 'paid', placedAt: '2026-01-02' })
      .go();
    const open = await orders.query.byStatus({ status: 'open' }).gte({ placedAt: '2026-01-01' }).go();
    expect(open.data.map(({ orderId }) => orderId)).toEqual(['o1']);
    const paid = await orders.query
      .byStatus({ status: 'paid' })
      .where(({ total }, { gt }) => gt(total, 5))
      .go();
    expect(paid.data).toHaveLength(1);
    const first = await orders.query.byCustomer({ customerId: 'c1' }).go({ limit: 1 });
    const second = await orders.query.byCustomer({ customerId: 'c1' }).go({ limit: 1, cursor: first.cursor });
    expect([first, second].map(page => page.data[0]?.orderId)).toEqual(['o1', 'o2']);
    expect((await orders.scan.go()).data).toHaveLength(2);
  });

  it('reads a collection of entities', async () => {
    const { data } = await shop.collections.account({ customerId: 'c1' }).go();
    expect(data.customers.map(({ name }) => name)).toEqual(['Ada L.']);
    expect(data.orders.map(({ orderId }) => orderId)).toEqual(['o1', 'o2']);
  });

  it('writes and reads in transactions, all or nothing', async () => {
    const done = await shop.transaction
      .write(({ customers, orders }) => [
        customers.patch({ customerId: 'c1' }).add({ visits: 1 }).commit(),
        orders.create(order('o4', 4)).commit(),
      ])
      .go();
    expect(done.canceled).toBe(false);
    const undone = await shop.transaction
      .write(({ customers, orders }) => [
        customers.patch({ customerId: 'c1' }).add({ visits: 1 }).commit(),
        orders.create(order('o4', 4)).commit({ response: 'all_old' }),
      ])
      .go();
    expect(undone.canceled).toBe(true);
    expect(undone.data.map(({ rejected, code }) => [rejected, code])).toEqual([
      [false, 'None'],
      [true, 'ConditionalCheckFailed'],
    ]);
    expect(undone.data[1]?.item).toMatchObject({ orderId: 'o4' });
    const { data } = await shop.transaction
      .get(({ customers, orders }) => [
        customers.get({ customerId: 'c1' }).commit(),
        orders.get({ customerId: 'c1', orderId: 'none' }).commit(),
      ])
      .go();
    expect(data.map(({ item }) => item)).toMatchObject([{ visits: 3 }, null]);
  });
});

it('ElectroDB queries an index whose key is the attributes themselves', async () => {
  const attribute = (name: string, type: string) => ({ AttributeName: name, AttributeType: type });
  const key = (names: string[], type: string) => names.map(name => ({ AttributeName: name, KeyType: type }));
  await engine.execute('CreateTable', {
    TableName: 'things',
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [...key(['pk'], 'HASH'), ...key(['sk'], 'RANGE')],
    AttributeDefinitions: [
      ...['pk', 'sk', 'country', 'city', 'maker'].map(name => attribute(name, 'S')),
      attribute('price', 'N'),
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'place',
        KeySchema: [...key(['country', 'city'], 'HASH'), ...key(['maker', 'price'], 'RANGE')],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  });
  const things = new Entity(
    {
      model: model('thing'),
      attributes: {
        id: { type: 'string', required: true },
        country: { type: 'string', required: true },
        city: { type: 'string', required: true },
        maker: { type: 'string' },
        price: { type: 'number' },
      },
      indexes: {
        thing: { pk: { field: 'pk', composite: ['id'] }, sk: { field: 'sk', composite: [] } },
        location: {
          index: 'place',
          type: 'composite',
          pk: { composite: ['country', 'city'] },
          sk: { composite: ['maker', 'price'] },
        },
      },
    } as const,
    { client: engine.documentClient(), table: 'things' },
  );
  const location = { country: 'it', city: 'rome' };
  for (const [id, price] of Object.entries({ a: 30, b: 4, c: 100 })) {
    await things.put({ id, ...location, maker: 'acme', price }).go();
  }
  await things.put({ id: 'd', ...location, maker: 'best', price: 1 }).go();
  await things.put({ id: 'e', ...location, maker: 'best' }).go();
  const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id).join('');
  expect(ids(await things.query.location(location).go())).toBe('bacd');
  expect(ids(await things.query.location({ ...location, maker: 'acme' }).go({ order: 'desc' }))).toBe('cab');
  expect(
    ids(
      await things.query
        .location({ ...location, maker: 'acme' })
        .gt({ price: 4 })
        .go(),
    ),
  ).toBe('ac');
  expect(ids(await things.query.location(location).begins({ maker: 'be' }).go())).toBe('d');
  const first = await things.query.location(location).go({ limit: 2 });
  const rest = await things.query.location(location).go({ cursor: first.cursor });
  expect(ids(first) + ids(rest)).toBe('bacd');
});
