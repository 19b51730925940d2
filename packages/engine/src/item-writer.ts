import { type Actor, encodeChange } from './storage/change-log.ts';
import { decodeItem, decodeSize, encodeItem } from './storage/codec.ts';
import type { Tx } from './storage/committer.ts';
import { indexKey, partitionHash, ttlKey } from './storage/keys.ts';
import { copyBytes, type Store } from './storage/store.ts';
import { attributesOfKey, type Index, type Stream, type Table, vectorsOf } from './storage/table.ts';
import { type AttributeValue, encoded, type Item, newItem } from './values/attribute-value.ts';
import { equalItems } from './values/compare.ts';
import { byteLength, itemSize, valueSize } from './values/size.ts';
import { writeVector } from './vectors/write.ts';

// One item's change, and everything that follows from it: index entries, the TTL entry, the change record and the
// counts. Called inside a write transaction, after every condition has been checked.

export type Image = { item: Item; bytes: Buffer; size: number };

export function readImage(store: Pick<Store, 'get'>, key: Buffer): Image | undefined {
  const bytes = store.get(key, copyBytes);
  return bytes && { item: decodeItem(bytes), bytes, size: decodeSize(bytes) };
}

export const makeImage = (item: Item, size = itemSize(item)): Image => ({
  item,
  bytes: item[encoded]?.bytes ?? encodeItem(item, size),
  size,
});

export type Change = { table: Table; key: Buffer; before?: Image; after?: Image; actor?: Actor; now: number };

export function writeChange(tx: Tx, change: Change): void {
  const { table, key, before, after } = change;
  if (!before && !after) return;
  if (before && after && sameItem(before, after)) return;
  if (after) tx.put(key, after.bytes);
  else tx.remove(key);
  for (const index of table.indexes) {
    if (index.status !== 'DELETING') writeIndex(tx, table, index, key, before, after);
  }
  for (const index of vectorsOf(table))
    if (index.status !== 'DELETING') writeVector(tx, table, index, key, before, after);
  if (table.ttl) writeExpiry(tx, table, table.ttl.attribute, key, before, after);
  const stream = table.streams.at(-1);
  if (stream?.enabled) writeLog(tx, stream, change);
  tx.addSize(table.id, (after ? 1 : 0) - (before ? 1 : 0), (after?.size ?? 0) - (before?.size ?? 0));
}

const sameItem = (a: Image, b: Image): boolean => a.bytes.equals(b.bytes) || equalItems(a.item, b.item);

function writeIndex(tx: Tx, table: Table, index: Index, key: Buffer, before?: Image, after?: Image): void {
  const oldKey = before && entryOf(tx, index, before, key);
  const newKey = after && indexKey(index, after.item, key);
  const moved = !oldKey || !newKey || !oldKey.equals(newKey);
  if (oldKey && moved) tx.remove(oldKey);
  if (newKey && moved) tx.put(newKey, key);
  const oldSize = oldKey ? projectedSize(table, index, before!) : 0;
  const newSize = newKey ? projectedSize(table, index, after!) : 0;
  tx.addSize(index.id, (newKey ? 1 : 0) - (oldKey ? 1 : 0), newSize - oldSize);
}

// While an index is being built, an item may have no entry yet, and must not be subtracted from the counts.
function entryOf(tx: Tx, index: Index, image: Image, key: Buffer): Buffer | undefined {
  const entry = indexKey(index, image.item, key);
  return entry && index.status === 'CREATING' && !tx.has(entry) ? undefined : entry;
}

export function projectedSize(table: Table, index: Index, image: Pick<Image, 'item' | 'size'>): number {
  if (index.projection.type === 'ALL') return image.size;
  let size = 0;
  for (const name of projectedNames(table, index)!) {
    const value = image.item[name];
    if (value) size += byteLength(name) + valueSize(value);
  }
  return size;
}

const namesOfIndexes = new WeakMap<Index, Set<string>>();

// The attributes that an index contains; undefined for all.
export function projectedNames(table: Table, index: Index): Set<string> | undefined {
  if (index.projection.type === 'ALL') return undefined;
  const known = namesOfIndexes.get(index);
  if (known) return known;
  const names = listProjected(table, index);
  namesOfIndexes.set(index, names);
  return names;
}

function listProjected(table: Table, { projection, keys }: Index): Set<string> {
  const names = new Set([table.keys.hash.name, keys.hash.name]);
  if (table.keys.range) names.add(table.keys.range.name);
  if (keys.range) names.add(keys.range.name);
  if (keys.more) for (const { name } of attributesOfKey(keys)) names.add(name);
  if (projection.type === 'INCLUDE') for (const name of projection.attributes) names.add(name);
  return names;
}

function writeExpiry(
  tx: Tx,
  table: Table,
  attribute: string,
  key: Buffer,
  before?: Image,
  after?: Image,
): void {
  const oldExpiry = before && expiryOf(before.item[attribute]);
  const newExpiry = after && expiryOf(after.item[attribute]);
  if (oldExpiry === newExpiry) return;
  if (oldExpiry !== undefined) tx.remove(ttlKey(table.id, oldExpiry, key));
  if (newExpiry !== undefined) tx.put(ttlKey(table.id, newExpiry, key), Buffer.alloc(0));
}

// TTL takes numbers of seconds only; anything else never expires.
export function expiryOf(value: AttributeValue | undefined): number | undefined {
  if (!value || !('N' in value)) return undefined;
  const seconds = Math.floor(Number(value.N));
  return seconds >= 0 && seconds < 2 ** 48 ? seconds : undefined;
}

export function keyAttributes(table: Table, item: Item): Item {
  const keys = newItem();
  keys[table.keys.hash.name] = item[table.keys.hash.name]!;
  if (table.keys.range) keys[table.keys.range.name] = item[table.keys.range.name]!;
  return keys;
}

function writeLog(tx: Tx, stream: Stream, { table, key, before, after, actor, now }: Change): void {
  const keys = makeImage(keyAttributes(table, (after ?? before)!.item));
  const wantsOld = stream.viewType === 'OLD_IMAGE' || stream.viewType === 'NEW_AND_OLD_IMAGES';
  const wantsNew = stream.viewType === 'NEW_IMAGE' || stream.viewType === 'NEW_AND_OLD_IMAGES';
  const record = encodeChange({
    event: !before ? 'INSERT' : after ? 'MODIFY' : 'REMOVE',
    actor: actor ?? 'user',
    at: now,
    keys: keys.bytes,
    old: wantsOld ? before?.bytes : undefined,
    new: wantsNew ? after?.bytes : undefined,
  });
  tx.append(stream.id, openShard(stream, key).id, record);
}

function openShard(stream: Stream, key: Buffer) {
  const open = stream.shards.filter(shard => shard.end === undefined);
  return open.length === 1 ? open[0]! : open[partitionHash(key) % open.length]!;
}
