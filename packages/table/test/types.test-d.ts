import type { Engine } from '@stak/engine';
import { z } from 'zod';
import type { Prepared } from '../src/client/prepared.ts';
import {
  type DynamoClient,
  defineInsights,
  defineQuery,
  defineTable,
  entity,
  type ItemOf,
  is,
  ref,
  type Store,
  write,
} from '../src/index.ts';
import {
  byStatus,
  dueMessages,
  feed,
  inbox,
  message,
  messagesOfUser,
  type receipt,
  total,
  user,
  userByEmail,
} from './example-table.ts';

// Checked by `tsc --noEmit`: every @ts-expect-error has to be an error, and everything else none.

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const expect = <_ extends true>() => {};
declare const store: Store;
declare const engine: Engine;

export const enginesClient: DynamoClient = engine.client;
export const enginesPrepared: Prepared | undefined = engine.client.put.prepared;

const id = { tenant_key: 'acme', uid: 'ann', inbox_key: 'main', id: 'm1' };
const schema = z.object({
  tenant_key: z.string(),
  uid: z.string(),
  tags: z.array(z.string()),
  at: z.number().optional(),
});

export async function reads() {
  const found = await store.get(message, id);
  expect<Same<typeof found, ItemOf<typeof message> | undefined>>();
  expect<Same<NonNullable<typeof found>['kind'], 'UM'>>();
  expect<Same<NonNullable<typeof found>['title'], string>>();

  // @ts-expect-error a part of the key is missing
  await store.get(message, { tenant_key: 'acme', uid: 'ann', inbox_key: 'main' });
  // @ts-expect-error a part of the key has the wrong type
  await store.get(message, { ...id, uid: 7 });
  // @ts-expect-error there is no such attribute
  found?.subject;
}

export async function queries() {
  const page = await store.query(messagesOfUser, { tenant_key: 'acme', uid: 'ann', inbox_key: 'main' });
  expect<Same<typeof page.items, ItemOf<typeof message>[]>>();
  // @ts-expect-error the partition key needs all of its parts
  await store.query(messagesOfUser, { tenant_key: 'acme', uid: 'ann' });
  // @ts-expect-error a bound is made of parts of the sort key
  await store.query(messagesOfUser, { ...id, id: undefined }, { from: { title: 'a' } });
  // @ts-expect-error a filter compares attributes that exist
  await store.query(messagesOfUser, id, { filter: { subject: 'a' } });
  // @ts-expect-error a filter compares with what the attribute can be
  await store.query(messagesOfUser, id, { filter: { title: is.not(7) } });

  await store.query(dueMessages, { shard: 1 }, { to: { dueat: 5 } });
  await store.query(byStatus, { ...id, id: undefined, status: 'sent' });
  // @ts-expect-error the status is one of three
  await store.query(byStatus, { tenant_key: 'acme', uid: 'ann', inbox_key: 'main', status: 'lost' });

  const { items } = await store.query(feed, { tenant_key: 'acme', uid: 'ann', inbox_key: 'main' });
  for (const one of items) {
    if (one.entity === 'message') expect<Same<typeof one.item, ItemOf<typeof message>>>();
    else expect<Same<typeof one.item, ItemOf<typeof receipt>>>();
    // @ts-expect-error only messages have a title
    one.item.title;
  }

  const people = await store.query(userByEmail, { tenant_key: 'acme', email: 'ann@example.com' });
  // An index of keys gives keys.
  expect<Same<(typeof people.items)[number]['uid'], string>>();
  expect<Same<(typeof people.items)[number]['name'], string | undefined>>();
}

export async function writes() {
  await store.put(message, { ...id, title: 'Hello' });
  const before = await store.put(message, { ...id, title: 'Hello' }, { returns: 'old' });
  expect<Same<typeof before, ItemOf<typeof message> | undefined>>();
  // @ts-expect-error the title is missing
  await store.put(message, id);
  // @ts-expect-error the title is text
  await store.put(message, { ...id, title: 1 });
  // The version is counted, not asked for.
  await store.put(user, { tenant_key: 'acme', uid: 'ann', name: 'Ann' });

  const after = await store.update(message, id, { set: { title: 'Hi' } });
  expect<Same<typeof after, ItemOf<typeof message>>>();
  await store.update(message, id, { set: { 'taxonomy.category': 'news' }, remove: ['readat'] });
  // @ts-expect-error no such attribute
  await store.update(message, id, { set: { subject: 'Hi' } });
  // @ts-expect-error a key does not change
  await store.update(message, id, { set: { uid: 'bob' } });
  // @ts-expect-error only numbers are added to
  await store.update(message, id, { add: { title: 1 } });
  // @ts-expect-error no such attribute to remove
  await store.update(message, id, { remove: ['subject'] });
  // @ts-expect-error a condition on an attribute that does not exist
  await store.update(message, id, { set: { title: 'Hi' } }, { if: { subject: 'a' } });
  await store.update(
    message,
    id,
    { set: { title: 'Hi' } },
    { if: { readat: is.absent, status: is.oneOf(['sent']) } },
  );

  await store.transact({
    message: write.put(message, { ...id, title: 'Hello' }, { ifAbsent: true }),
    total: write.update(
      total,
      { tenant_key: 'acme', uid: 'ann', inbox_key: 'main' },
      { add: { published: 1 } },
    ),
  });
  // @ts-expect-error the key of a total has no more parts than it needs, but no fewer
  write.update(total, { tenant_key: 'acme' }, { add: { published: 1 } });

  const [one, two] = await store.batchGet([ref(message, id), ref(user, { tenant_key: 'acme', uid: 'ann' })]);
  expect<Same<typeof one, ItemOf<typeof message> | undefined>>();
  expect<Same<typeof two, ItemOf<typeof user> | undefined>>();
}

export function designs() {
  entity(inbox, { name: 'a', schema, key: { partition: 'x#{tenant_key}', sort: 'y#{uid}' } });
  // @ts-expect-error the schema has no inbox_key
  entity(inbox, { name: 'b', schema, key: { partition: 'x#{tenant_key}', sort: 'y#{inbox_key}' } });
  // @ts-expect-error a list cannot be part of a key
  entity(inbox, { name: 'c', schema, key: { partition: 'x#{tenant_key}', sort: 'y#{tags}' } });
  // @ts-expect-error what may be missing cannot be part of the primary key
  entity(inbox, { name: 'd', schema, key: { partition: 'x#{tenant_key}', sort: 'y#{at:10}' } });
  const sparse = entity(inbox, {
    name: 'e',
    schema,
    key: { partition: 'x#{tenant_key}', sort: 'e#{uid}' },
    indexes: { due: { partition: 'DUE#{tenant_key}', sort: '{at:10}' } },
  });
  entity(inbox, {
    name: 'f',
    schema,
    key: { partition: 'x#{tenant_key}', sort: 'f#{uid}' },
    // @ts-expect-error the table has no such index
    indexes: { owed: { partition: 'DUE#{tenant_key}', sort: '{at:10}' } },
  });
  entity(inbox, {
    name: 'g',
    schema,
    key: { partition: 'x#{tenant_key}', sort: 'g#{uid}' },
    // @ts-expect-error the version is an attribute
    version: 'revision',
  });
  defineQuery('a', { of: sparse, index: 'due' });
  // @ts-expect-error the entity is not in that index
  defineQuery('b', { of: sparse, index: 'status' });
  // @ts-expect-error there is no such index
  defineQuery('c', { of: sparse, index: 'owed' });
  // @ts-expect-error a stream has one of four views
  defineTable({ name: 't', keys: { partition: 'pk' }, stream: 'EVERYTHING' });
  defineInsights(sparse, ({ column, isOneOf }) => {
    column('at');
    // @ts-expect-error the entity has no such attribute
    column('attempt');
    // @ts-expect-error and `at` is no text
    isOneOf('at', ['noon']);
    return [];
  });
}
