import { expiryOf, projectedSize } from '../item-writer.ts';
import { decodeItem, decodeSize } from '../storage/codec.ts';
import { indexKey, itemKey, ttlKey } from '../storage/keys.ts';
import type { Index, KeyAttribute, Table } from '../storage/table.ts';
import type { Item } from '../values/attribute-value.ts';
import { itemSize } from '../values/size.ts';
import { attempt, type Check } from './findings.ts';
import { checkVectorsOf } from './vectors.ts';

const noBytes = Buffer.alloc(0);

// An item must be found under its own key, in every index whose keys it has, and in the TTL index.
export function checkItem(check: Check, table: Table, key: Buffer, bytes: Buffer): void {
  const item = attempt(() => decodeItem(bytes));
  if (!item) {
    check.add('item', key, 'the item cannot be read', table.name);
    return;
  }
  const size = itemSize(item);
  count(check, table.id, size);
  if (!isKeyOf(table, item, key)) check.add('item', key, 'the item is not what its key says', table.name);
  if (decodeSize(bytes) !== size) {
    check.add('item', key, `the item says ${decodeSize(bytes)} bytes and has ${size}`, table.name);
  }
  for (const index of table.indexes) {
    if (index.status !== 'DELETING') checkIndexed(check, table, index, key, { item, size });
  }
  checkVectorsOf(check, table, key, { item, size }, (id, bytes) => count(check, id, bytes));
  if (table.ttl?.status === 'ENABLED') checkExpiry(check, table, table.ttl.attribute, key, item);
}

function checkIndexed(
  check: Check,
  table: Table,
  index: Index,
  key: Buffer,
  sized: { item: Item; size: number },
): void {
  const entry = indexKey(index, sized.item, key);
  if (!entry) return;
  const isStored = check.store.has(entry);
  // An index that is still being filled counts the entries it has.
  if (!isStored && index.status === 'CREATING') return;
  count(check, index.id, projectedSize(table, index, sized));
  if (isStored) return;
  const message = `the item is missing from the index ${index.name}`;
  check.add('index', key, message, table.name, tx => tx.put(entry, key));
}

function checkExpiry(check: Check, table: Table, attribute: string, key: Buffer, item: Item): void {
  const expiry = expiryOf(item[attribute]);
  if (expiry === undefined || check.store.has(ttlKey(table.id, expiry, key))) return;
  const entry = ttlKey(table.id, expiry, key);
  check.add('ttl', key, 'the item is missing from the TTL index', table.name, tx => tx.put(entry, noBytes));
}

function count({ tally }: Check, id: number, bytes: number): void {
  const size = tally.get(id);
  if (!size) tally.set(id, { items: 1, bytes });
  else {
    size.items++;
    size.bytes += bytes;
  }
}

export function isKeyOf(table: Pick<Table, 'id' | 'keys'>, item: Item, key: Buffer): boolean {
  const { hash, range } = table.keys;
  if (!has(item, hash) || (range && !has(item, range))) return false;
  return itemKey(table, item).equals(key);
}

const has = (item: Item, { name, type }: KeyAttribute): boolean => {
  const value = item[name];
  return value !== undefined && type in value;
};
