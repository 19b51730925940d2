import type { Context } from '../context.ts';
import { encodeChange } from '../storage/change-log.ts';
import type { Tx } from '../storage/committer.ts';
import { partitionHash, ttlKey } from '../storage/keys.ts';
import { encodePlain } from '../storage/plain-item.ts';
import type { NativeItem } from '../values/marshal.ts';
import { changeVector } from '../vectors/write.ts';
import { indexEntry } from './keys.ts';
import { type IndexLayout, indexKeyPart, type Layout, projectedBytes } from './layout.ts';
import { equalPlain } from './values.ts';
import { contentOf, isSameVector, restGrowth, type VectorLayout, vectorBytes } from './vectors.ts';

// Applies a decided write: what `item-writer.ts` does for tagged values, and what `capacity.ts` counts. Nothing here
// may throw, because a part may be written already.

/** One write in a transaction. `before` is decoded only where something needs it. */
export type ItemWrite = {
  readonly layout: Layout;
  readonly key: Buffer;
  readonly target: NativeItem; // has the key
  beforeBytes: Buffer | undefined;
  before: NativeItem | undefined;
  beforeSize: number;
  after: NativeItem | undefined;
  afterBytes: Buffer | undefined;
  afterSize: number;
  isUnchanged: boolean;
};

const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1024));

/** Returns the units consumed of the table and its indexes. Transactions cost twice, on the table only. */
export function applyWrite(
  context: Context,
  tx: Tx,
  item: ItemWrite,
  factor: number,
  bills: boolean,
): number {
  const { layout, key, beforeBytes, afterBytes, beforeSize, afterSize } = item;
  const { onUsage } = context;
  let units = writeUnits(Math.max(beforeSize, afterSize)) * factor;
  onUsage?.({ table: layout.table.name, kind: 'write', partition: item.target[layout.hash], units });
  if (item.isUnchanged) return units;
  if (afterBytes) tx.put(key, afterBytes);
  else tx.remove(key);
  for (const index of layout.indexes) {
    const amount = writeIndex(tx, index, item, bills || onUsage !== undefined);
    if (amount === 0) continue;
    units += amount;
    if (!onUsage) continue;
    const partition = item.after?.[index.hash] ?? item.before?.[index.hash];
    onUsage({ table: layout.table.name, kind: 'write', index: index.name, partition, units: amount });
  }
  for (const vector of layout.vectors) writeVector(tx, vector, item);
  if (layout.ttl !== undefined) writeExpiry(tx, layout.ttl, item);
  if (layout.stream) writeLog(tx, context.now(), item);
  tx.addSize(layout.id, (afterBytes ? 1 : 0) - (beforeBytes ? 1 : 0), afterSize - beforeSize);
  return units;
}

// Returns the units consumed of the index. An entry that moves is a delete and a put; a projection that did not change
// is free.
function writeIndex(tx: Tx, index: IndexLayout, item: ItemWrite, bills: boolean): number {
  const { before, after, key } = item;
  const oldHash = before && indexKeyPart(before, index.hash, true);
  const newHash = after && indexKeyPart(after, index.hash, true);
  const oldRange = before && rangeOf(index, before);
  const newRange = after && rangeOf(index, after);
  const wasIn = oldHash !== undefined && oldRange !== undefined;
  const isIn = newHash !== undefined && newRange !== undefined;
  if (!wasIn && !isIn) return 0;
  const isMoved = !wasIn || !isIn || oldHash !== newHash || oldRange !== newRange;
  if (!isMoved && isSameProjection(index, before!, after!)) return 0;
  if (wasIn && isMoved) tx.remove(entryOf(index, oldHash, oldRange, key));
  if (isIn && isMoved) tx.put(entryOf(index, newHash, newRange, key), key);
  const oldSize = wasIn ? projectedBytes(index, before!, item.beforeSize) : 0;
  const newSize = isIn ? projectedBytes(index, after!, item.afterSize) : 0;
  tx.addSize(index.id, (isIn ? 1 : 0) - (wasIn ? 1 : 0), newSize - oldSize);
  if (!bills) return 0;
  const oldUnits = wasIn ? writeUnits(oldSize) : 0;
  const newUnits = isIn ? writeUnits(newSize) : 0;
  return isMoved ? oldUnits + newUnits : Math.max(oldUnits, newUnits);
}

// An index without a sort key has an empty one here.
const rangeOf = ({ range }: IndexLayout, item: NativeItem): string | undefined =>
  range === undefined ? '' : indexKeyPart(item, range, false);

const entryOf = ({ id, range }: IndexLayout, hash: string, value: string, key: Buffer): Buffer =>
  indexEntry(id, hash, range === undefined ? undefined : value, key);

// The items differ, so an index that contains everything does too.
function isSameProjection({ names }: IndexLayout, before: NativeItem, after: NativeItem): boolean {
  if (!names) return false;
  for (const { name } of names) if (!equalPlain(before[name], after[name])) return false;
  return true;
}

function writeVector(tx: Tx, vector: VectorLayout, item: ItemWrite): void {
  const { layout, before, after } = item;
  changeVector(tx, layout.id, vector.index, item.key, {
    hadItem: before !== undefined,
    hasItem: after !== undefined,
    isSame: () => isSameVector(vector, before!, after!),
    content: () => contentOf(vector, after!),
    sizeBefore: () => vectorBytes(vector, before!),
    sizeAfter: () => vectorBytes(vector, after!),
    growth: () => restGrowth(vector, item),
  });
}

const noBytes = Buffer.alloc(0);

function writeExpiry(tx: Tx, attribute: string, { layout, key, before, after }: ItemWrite): void {
  const oldExpiry = before && expiryOf(before[attribute]);
  const newExpiry = after && expiryOf(after[attribute]);
  if (oldExpiry === newExpiry) return;
  if (oldExpiry !== undefined) tx.remove(ttlKey(layout.id, oldExpiry, key));
  if (newExpiry !== undefined) tx.put(ttlKey(layout.id, newExpiry, key), noBytes);
}

function expiryOf(value: unknown): number | undefined {
  if (typeof value !== 'number') return undefined;
  const seconds = Math.floor(value);
  return seconds >= 0 && seconds < 2 ** 48 ? seconds : undefined;
}

function writeLog(tx: Tx, now: number, item: ItemWrite): void {
  const { layout, key, beforeBytes, afterBytes } = item;
  const stream = layout.stream!;
  const keys = keysOf(layout, item.target);
  const record = encodeChange({
    event: !beforeBytes ? 'INSERT' : afterBytes ? 'MODIFY' : 'REMOVE',
    actor: 'user',
    at: now,
    keys: encodePlain(keys)!.bytes,
    old: stream.wantsOld ? beforeBytes : undefined,
    new: stream.wantsNew ? afterBytes : undefined,
  });
  const { shards } = stream;
  const shard = shards.length === 1 ? shards[0]! : shards[partitionHash(key) % shards.length]!;
  tx.append(stream.id, shard, record, keys);
}

function keysOf({ hash, range }: Layout, target: NativeItem): NativeItem {
  const keys: NativeItem = {};
  keys[hash] = target[hash];
  if (range !== undefined) keys[range] = target[range];
  return keys;
}
