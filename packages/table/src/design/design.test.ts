import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as example from '../../test/example-table.ts';
import {
  DesignError,
  defineKeys,
  defineQuery,
  defineTable,
  entity,
  extendTable,
  recognise,
} from '../index.ts';

const schema = z.object({ a: z.string(), b: z.string() });
const make = () =>
  defineTable({ name: 't', keys: { partition: 'pk', sort: 'sk' }, indexes: { one: { partition: 'onepk' } } });

describe('a design that contradicts itself is refused when it is loaded', () => {
  it('two entities with one key and no kinds to distinguish them', () => {
    const table = make();
    entity(table, { name: 'x', schema, key: { partition: 'x#{a}', sort: '{b}' } });
    expect(() => entity(table, { name: 'y', schema, key: { partition: 'x#{b}', sort: 'META' } })).toThrow(
      'y and x can have the same key',
    );
    expect(() => entity(table, { name: 'x', schema, key: { partition: 'z#{b}', sort: 'META' } })).toThrow(
      'two entities',
    );
    entity(table, { name: 'z', kind: 'Z', schema, key: { partition: 'x#{b}', sort: 'META' } });
  });

  it('an attribute that is a key, keys that do not fit the table', () => {
    const table = make();
    expect(() =>
      entity(table, {
        name: 'x',
        schema: schema.extend({ pk: z.string() }),
        key: { partition: '{a}', sort: '{b}' },
      }),
    ).toThrow(DesignError);
    expect(() => entity(table, { name: 'x', schema, key: { partition: '{a}' } })).toThrow('needs a sort key');
    expect(() =>
      entity(table, {
        name: 'x',
        schema,
        key: { partition: '{a}', sort: '{b}' },
        indexes: { one: { partition: '{a}', sort: '{b}' } },
      }),
    ).toThrow('no sort key');
    expect(() => defineTable({ name: 't', keys: { partition: 'pk', sort: 'pk' } })).toThrow(DesignError);
  });

  it('queries over several partitions', () => {
    const table = make();
    const x = entity(table, { name: 'x', schema, key: { partition: 'x#{a}', sort: '{b}' } });
    const y = entity(table, { name: 'y', schema, key: { partition: 'y#{a}', sort: '{b}' } });
    expect(() => defineQuery('both', { of: [x, y] })).toThrow('different partitions');
    defineQuery('all', { of: x });
    expect(() => defineQuery('all', { of: x })).toThrow('two queries');
  });
});

describe('a table that lists its entities', () => {
  const keys = defineKeys({ name: 't', keys: { partition: 'pk', sort: 'sk' } });
  const x = entity(keys, { name: 'x', schema, key: { partition: 'x#{a}', sort: '{b}' } });
  const y = entity(keys, { name: 'y', kind: 'Y', schema, key: { partition: 'x#{b}', sort: 'META' } });
  const allX = defineQuery('all', { of: x });

  it('contains what is listed, whatever else is defined', () => {
    const table = defineTable(keys, { entities: [x], queries: [allX] });
    entity(keys, { name: 'z', schema, key: { partition: 'z#{a}', sort: '{b}' } });
    expect(table.entities).toEqual([x]);
    expect(table.queries).toEqual([allX]);
  });

  it('is refused if entities share keys without declaring it, or are listed twice', () => {
    expect(() => defineTable(keys, { entities: [x, y], queries: [] })).toThrow('both need `sharesKeys`');
    expect(() => defineTable(keys, { entities: [x, x], queries: [] })).toThrow('two entities');
    const shared = (name: string, kind: string) =>
      entity(keys, { name, kind, schema, key: { partition: 'x#{a}', sort: '{b}' }, sharesKeys: true });
    defineTable(keys, { entities: [shared('x', 'X'), shared('y', 'Y')], queries: [] });
    expect(() => defineTable(keys, { entities: [shared('x', 'X'), shared('y', 'X')], queries: [] })).toThrow(
      'no kind tells them apart',
    );
  });

  it('accepts no entity that is defined on it, and is extended by a list', () => {
    const table = defineTable(keys, { entities: [x], queries: [allX] });
    const own = { schema: z.object({ id: z.string() }), key: { partition: 'Z', sort: '{id}' } } as const;
    expect(() => entity(table, { name: 'z', ...own })).toThrow('list it in the table');
    const z1 = entity(keys, { name: 'z', ...own });
    const more = extendTable(table, { entities: [z1], queries: [] });
    expect(more.entities).toEqual([x, z1]);
    expect(more.queries).toEqual([allX]);
    expect(table.entities).toEqual([x]);
    expect(() => extendTable(table, { entities: [x], queries: [] })).toThrow('two entities');
  });

  it('is refused if a query is listed twice, or reads an unlisted entity', () => {
    expect(() => defineTable(keys, { entities: [x], queries: [allX, allX] })).toThrow('two queries');
    expect(() => defineTable(keys, { entities: [y], queries: [allX] })).toThrow('which is not listed');
  });
});

describe('recognising stored items', () => {
  const entities = [example.message, example.receipt, example.total, example.categoryCount, example.user];
  const pk = 't#acmeU#ann#main';
  const ann = { tenant_key: 'acme', uid: 'ann', inbox_key: 'main' };

  it.each([
    [
      { pk, sk: 'm#1', kind: 'UM', title: 'x', ...ann },
      { entity: 'message', item: { kind: 'UM', title: 'x', ...ann } },
    ],
    [
      { pk, sk: 'm#1', readat: 1 },
      { entity: 'receipt', item: { ...ann, id: '1', readat: 1 } },
    ],
    [
      { pk, sk: 'c#*', kind: 'US' },
      { entity: 'total', item: { kind: 'US' } },
    ],
    [
      { pk, sk: 'c#%2A', kind: 'US' },
      { entity: 'category count', item: { kind: 'US', category: '*' } },
    ],
    [{ pk, sk: 'x#1', kind: 'UM' }, undefined],
    [{ pk: 't#acme', sk: 'm#1', kind: 'UM' }, undefined],
    [{ pk, sk: 'm#1', kind: 'US' }, undefined],
    [{}, undefined],
  ])('%j', (stored, expected) => {
    expect(recognise(entities, stored)).toEqual(expected);
  });
});
