import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProblemKind } from '../src/check/findings.ts';
import { makeImage } from '../src/item-writer.ts';
import { createCatalog } from '../src/storage/catalog.ts';
import { decodeChange, encodeChange } from '../src/storage/change-log.ts';
import { encodeItem } from '../src/storage/codec.ts';
import {
  head,
  indexKey,
  itemKey,
  logKey,
  logSequence,
  metaKey,
  prefixRange,
  sizeKey,
  space,
  tableKey,
  tokenExpiryKey,
  tokenKey,
  ttlKey,
} from '../src/storage/keys.ts';
import { copyBytes, decodeJson, encodeJson, openStore, type Store } from '../src/storage/store.ts';
import type { Table } from '../src/storage/table.ts';
import type { Item } from '../src/values/attribute-value.ts';
import { call, hashTable, newIndex, openEngine, streaming, testClock } from './engine-fixture.ts';

// A healthy store is closed, damaged behind the engine's back, and checked.

const clock = testClock();
let folder: string;

const note = (pk: string, color: string): Item => ({
  pk: { S: pk },
  color: { S: color },
  ttl: { N: '2000000000' },
});
const red = note('a', 'red');

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stak-check-'));
  const engine = await openEngine({ path: folder, clock });
  await call(engine, 'CreateTable', hashTable('notes', streaming()));
  await call(engine, 'CreateTable', hashTable('plain'));
  await call(engine, 'UpdateTable', { TableName: 'notes', ...newIndex('byColor', 'color') });
  await call(engine, 'UpdateTimeToLive', {
    TableName: 'notes',
    TimeToLiveSpecification: { Enabled: true, AttributeName: 'ttl' },
  });
  await engine.settled();
  for (const Item of [red, note('b', 'blue'), note('c', 'red')]) {
    await call(engine, 'PutItem', { TableName: 'notes', Item });
  }
  await call(engine, 'TransactWriteItems', {
    ClientRequestToken: 'token',
    TransactItems: [{ Put: { TableName: 'plain', Item: { pk: { S: 'x' } } } }],
  });
  expect(engine.check()).toEqual({
    tables: 2,
    items: 4,
    indexEntries: 3,
    ttlEntries: 3,
    logRecords: 3,
    tokens: 1,
    problemCount: 0,
    problems: [],
  });
  await engine.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

type Damage = (store: Store, notes: Table) => void;

async function damageAndCheck(damage: Damage): Promise<string[]> {
  const store = openStore(folder);
  const notes = createCatalog(store).get('notes');
  await store.commit(() => damage(store, notes));
  await store.close();
  const engine = await openEngine({ path: folder, clock });
  try {
    const { problems, problemCount } = engine.check();
    expect(problemCount).toBe(problems.length);
    return problems.map(({ kind, table, message }) => `${kind} ${table ?? '-'}: ${message}`);
  } finally {
    await engine.close();
  }
}

const byColor = (notes: Table) => notes.indexes[0]!;
const entryOf = (notes: Table, item: Item) => indexKey(byColor(notes), item, itemKey(notes, item))!;
const empty = Buffer.alloc(0);

function firstLogKey(store: Store, notes: Table): Buffer {
  for (const { key } of store.keys(prefixRange(head(space.log, notes.streams[0]!.id)))) return key;
  throw new Error('the log is empty');
}

function rewriteLog(store: Store, notes: Table, change: (bytes: Buffer) => Buffer): void {
  const key = firstLogKey(store, notes);
  store.put(key, change(store.get(key, copyBytes)!));
}

function saveTable(store: Store, table: Table): void {
  store.put(tableKey(table.name), encodeJson(table));
}

const cases: [string, Damage, string[]][] = [
  [
    'an item that cannot be read',
    (store, notes) => store.put(itemKey(notes, red), Buffer.from([2, 0, 0, 0, 0, 0x7b])),
    [
      'item notes: the item cannot be read',
      'index notes: an entry of the index byColor has no item',
      'ttl notes: a TTL entry has no item',
      'log notes: the newest change record of an item disagrees with it',
      'size notes: the table says 3 items of 49 bytes and has 2 of 33',
      'size notes: the index byColor says 3 items of 49 bytes and has 2 of 33',
    ],
  ],
  [
    'an item under the key of another',
    (store, notes) => {
      const image = makeImage({ ...red, pk: { S: 'z' } });
      store.put(itemKey(notes, red), image.bytes);
    },
    [
      'item notes: the item is not what its key says',
      'log notes: the newest change record of an item disagrees with it',
    ],
  ],
  [
    'an item with a key of the wrong type',
    (store, notes) => store.put(itemKey(notes, red), makeImage({ ...red, pk: { N: '7' } }).bytes),
    [
      'item notes: the item is not what its key says',
      'log notes: the newest change record of an item disagrees with it',
      'size notes: the table says 3 items of 49 bytes and has 3 of 50',
      'size notes: the index byColor says 3 items of 49 bytes and has 3 of 50',
    ],
  ],
  [
    'an item that lies about its size',
    (store, notes) => store.put(itemKey(notes, red), encodeItem(red, 99)),
    ['item notes: the item says 99 bytes and has 16'],
  ],
  [
    'an item that lost its index entry',
    (store, notes) => store.remove(entryOf(notes, red)),
    ['index notes: the item is missing from the index byColor'],
  ],
  [
    'an index entry without an item',
    (store, notes) => {
      const gone = note('gone', 'red');
      store.put(entryOf(notes, gone), itemKey(notes, gone));
    },
    ['index notes: an entry of the index byColor has no item'],
  ],
  [
    'an index entry under the wrong value',
    (store, notes) => {
      const entry = indexKey(byColor(notes), note('a', 'green'), itemKey(notes, red))!;
      store.put(entry, itemKey(notes, red));
    },
    ['index notes: an entry of the index byColor disagrees with its item'],
  ],
  [
    'an index entry that points to another item',
    (store, notes) => store.put(entryOf(notes, red), itemKey(notes, note('b', 'blue'))),
    ['index notes: an entry of the index byColor disagrees with its item'],
  ],
  [
    'an index entry that points into another table',
    (store, notes) => {
      const plain = createCatalog(store).get('plain');
      store.put(entryOf(notes, red), itemKey(plain, { pk: { S: 'x' } }));
    },
    ['index notes: an entry of the index byColor has no item'],
  ],
  [
    'an item that lost its TTL entry',
    (store, notes) => store.remove(ttlKey(notes.id, 2_000_000_000, itemKey(notes, red))),
    ['ttl notes: the item is missing from the TTL index'],
  ],
  [
    'a TTL entry at the wrong time',
    (store, notes) => store.put(ttlKey(notes.id, 5, itemKey(notes, red)), empty),
    ['ttl notes: a TTL entry disagrees with its item'],
  ],
  [
    'a TTL entry without an item',
    (store, notes) => store.put(ttlKey(notes.id, 5, itemKey(notes, note('gone', 'red'))), empty),
    ['ttl notes: a TTL entry has no item'],
  ],
  [
    'a TTL entry of a table without TTL',
    store => {
      const plain = createCatalog(store).get('plain');
      store.put(ttlKey(plain.id, 5, itemKey(plain, { pk: { S: 'x' } })), empty);
    },
    ['ttl plain: a TTL entry of a table without TTL'],
  ],
  [
    'counts that are wrong',
    (store, notes) => {
      const counts = Buffer.alloc(16);
      counts.writeDoubleBE(7, 0);
      store.put(sizeKey(notes.id), counts);
      store.remove(sizeKey(byColor(notes).id));
    },
    [
      'size notes: the table says 7 items of 0 bytes and has 3 of 49',
      'size notes: the index byColor says 0 items of 0 bytes and has 3 of 49',
    ],
  ],
  [
    'records that belong to nobody',
    store => {
      for (const prefix of [space.item, space.index, space.ttl, space.size]) {
        store.put(Buffer.concat([head(prefix, 999), Buffer.alloc(12)]), Buffer.alloc(16));
      }
      store.put(logKey(999, 1, 1), Buffer.alloc(20));
      store.put(Buffer.from([0x7f]), empty);
    },
    [
      'item -: an item without a table',
      'index -: an entry without an index',
      'ttl -: a TTL entry without a table',
      'log -: a change record without a stream',
      'size -: a count of nothing',
      'item -: a record of an unknown kind',
    ],
  ],
  [
    'a change record in no shard',
    (store, notes) => {
      const key = firstLogKey(store, notes);
      store.put(logKey(notes.streams[0]!.id, 999, logSequence(key)), store.get(key, copyBytes)!);
    },
    ['log notes: a change record is in a shard that does not exist'],
  ],
  [
    'a change record above the counter',
    (store, notes) => {
      const { id, shards } = notes.streams[0]!;
      store.put(logKey(id, shards[0]!.id, 1000), store.get(firstLogKey(store, notes), copyBytes)!);
    },
    ['log notes: a change record has a sequence never given out: 1000'],
  ],
  [
    'a change record outside its shard',
    (store, notes) => {
      const { id, shards } = notes.streams[0]!;
      store.put(logKey(id, shards[0]!.id, 0), store.get(firstLogKey(store, notes), copyBytes)!);
    },
    ['log notes: a change record has a sequence outside its shard: 0'],
  ],
  [
    'a change record that cannot be read',
    (store, notes) => rewriteLog(store, notes, bytes => bytes.subarray(0, 20)),
    ['log notes: a change record cannot be read'],
  ],
  [
    'a change record whose keys are those of another item',
    (store, notes) =>
      rewriteLog(store, notes, bytes =>
        encodeChange({ ...decodeChange(bytes), keys: makeImage({ pk: { S: 'b' } }).bytes }),
      ),
    ['log notes: the keys of a change record disagree with its images'],
  ],
  [
    'a change record without the key attributes',
    (store, notes) =>
      rewriteLog(store, notes, bytes =>
        encodeChange({ ...decodeChange(bytes), keys: makeImage({ other: { S: 'b' } }).bytes }),
      ),
    ['log notes: the keys of a change record disagree with its images'],
  ],
  [
    'a change that never reached its item',
    (store, notes) =>
      rewriteLog(store, notes, bytes =>
        encodeChange({ ...decodeChange(bytes), new: makeImage(note('a', 'green')).bytes }),
      ),
    ['log notes: the newest change record of an item disagrees with it'],
  ],
  [
    'a token without its expiry',
    store => {
      const key = tokenKey('token');
      const { expiresAt } = store.get(key, decodeJson) as { expiresAt: number };
      store.remove(tokenExpiryKey(expiresAt, key));
    },
    ['token -: a token is missing from the expiry index'],
  ],
  [
    'a token that cannot be read',
    store => store.put(tokenKey('token'), Buffer.from('?')),
    ['token -: a token cannot be read', 'token -: an expiry entry disagrees with its token'],
  ],
  [
    'an expiry without its token',
    store => store.put(tokenExpiryKey(5, tokenKey('unknown')), empty),
    ['token -: an expiry entry disagrees with its token'],
  ],
  [
    'a table whose id was never given out',
    store => store.put(metaKey('ids'), encodeJson(4)),
    ['table notes: an id of the table was never given out'],
  ],
];

test.each(cases)('reports %s', async (_, damage, expected) => {
  expect(await damageAndCheck(damage)).toEqual(expected);
});

test('every kind of problem has a case', () => {
  const kinds = new Set(cases.flatMap(([, , found]) => found.map(line => line.split(' ')[0])));
  const all: ProblemKind[] = ['table', 'item', 'index', 'ttl', 'log', 'token', 'size'];
  expect([...kinds].sort()).toEqual(all.sort());
});

test('an index or TTL that is still being filled may lack entries', async () => {
  const found = await damageAndCheck((store, notes) => {
    store.remove(entryOf(notes, red));
    store.remove(ttlKey(notes.id, 2_000_000_000, itemKey(notes, red)));
    const counts = Buffer.alloc(16);
    counts.writeDoubleBE(2, 0);
    counts.writeDoubleBE(33, 8);
    store.put(sizeKey(byColor(notes).id), counts);
    saveTable(store, {
      ...notes,
      indexes: [{ ...byColor(notes), status: 'CREATING' }],
      ttl: { attribute: 'ttl', status: 'ENABLING' },
    });
  });
  expect(found).toEqual([]);
});

test('counts every problem and describes the first thousand', async () => {
  const store = openStore(folder);
  await store.commit(() => {
    for (let i = 0; i < 1500; i++)
      store.put(Buffer.concat([head(space.item, 999), Buffer.from(`${i}`)]), empty);
  });
  await store.close();
  const engine = await openEngine({ path: folder, clock });
  const report = engine.check();
  await engine.close();
  expect(report.problemCount).toBe(1500);
  expect(report.problems).toHaveLength(1000);
});
