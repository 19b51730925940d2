import type { Context } from '../context.ts';
import type { Tx } from '../storage/committer.ts';
import { head, metaKey, prefixRange, sizeKey, space, vectorSpaces } from '../storage/keys.ts';
import type { Store } from '../storage/store.ts';
import { type Table, vectorsOf } from '../storage/table.ts';

// Removes many records: a few per transaction, so that writers hardly wait. The remaining work is stored in the file,
// so it is resumed after a crash.

export const keysPerTransaction = 512;

const noBytes = Buffer.alloc(0);
const garbagePrefix = metaKey('garbage/');

// `finish` runs in the transaction that removes the last key, so nothing can be added in between. `wanted` is called in
// every transaction: another process may have finished the work.
async function removeAll(
  context: Context,
  prefix: Buffer,
  signal: AbortSignal,
  wanted: () => boolean,
  finish: (tx: Tx) => void,
): Promise<void> {
  const step = (tx: Tx): boolean => {
    if (!wanted()) return true;
    const keys = firstKeys(context.store, prefix);
    for (const key of keys) tx.remove(key);
    if (keys.length === keysPerTransaction) return false;
    finish(tx);
    return true;
  };
  while (!signal.aborted && !(await context.submit(step)));
}

function firstKeys(store: Store, prefix: Buffer): Buffer[] {
  const keys: Buffer[] = [];
  for (const { key } of store.keys(prefixRange(prefix))) {
    keys.push(key);
    if (keys.length === keysPerTransaction) break;
  }
  return keys;
}

// ---- a dropped table: gone at once, its records are garbage

export function discardTable(tx: Tx, table: Table): void {
  discard(tx, head(space.item, table.id));
  discard(tx, head(space.ttl, table.id));
  // The counts as well: this transaction may still add to them when it ends.
  discard(tx, sizeKey(table.id));
  for (const index of table.indexes) {
    discard(tx, head(space.index, index.id));
    discard(tx, sizeKey(index.id));
  }
  for (const index of vectorsOf(table)) {
    for (const kind of vectorSpaces) discard(tx, head(kind, index.id));
    discard(tx, sizeKey(index.id));
  }
}

const discard = (tx: Tx, prefix: Buffer): void => tx.put(Buffer.concat([garbagePrefix, prefix]), noBytes);

export function listGarbage(store: Store): Buffer[] {
  const prefixes: Buffer[] = [];
  for (const { key } of store.keys(prefixRange(garbagePrefix))) {
    prefixes.push(key.subarray(garbagePrefix.length));
  }
  return prefixes;
}

export function startGarbageRemoval(context: Context): void {
  if (listGarbage(context.store).length === 0) return;
  context.background('remove dropped tables', async signal => {
    // Another table may be dropped while this one is being removed.
    for (let prefix = listGarbage(context.store)[0]; prefix; prefix = listGarbage(context.store)[0]) {
      if (signal.aborted) return;
      const entry = Buffer.concat([garbagePrefix, prefix]);
      await removeAll(
        context,
        prefix,
        signal,
        () => context.store.has(entry),
        tx => tx.remove(entry),
      );
    }
  });
}

// ---- a dropped index

export function startIndexRemoval(context: Context, table: Table, indexId: number): void {
  const current = () => {
    const current = context.catalog.findById(table.id);
    return current?.indexes.some(index => index.id === indexId) ? current : undefined;
  };
  context.background(`remove index ${indexId} of ${table.name}`, signal =>
    removeAll(
      context,
      head(space.index, indexId),
      signal,
      () => current() !== undefined,
      tx => {
        const table = current()!;
        tx.remove(sizeKey(indexId));
        context.catalog.save(tx, { ...table, indexes: table.indexes.filter(index => index.id !== indexId) });
      },
    ),
  );
}

export function startVectorRemoval(context: Context, table: Table, indexId: number): void {
  const current = () => {
    const current = context.catalog.findById(table.id);
    return current && vectorsOf(current).some(index => index.id === indexId) ? current : undefined;
  };
  const finish = (tx: Tx): void => {
    const { vectors: _, ...found } = current()!;
    const left = vectorsOf(current()!).filter(index => index.id !== indexId);
    tx.remove(sizeKey(indexId));
    context.catalog.save(tx, left.length > 0 ? { ...found, vectors: left } : found);
  };
  context.background(`remove vector index ${indexId} of ${table.name}`, async signal => {
    for (const kind of vectorSpaces) {
      const isLast = kind === vectorSpaces.at(-1);
      await removeAll(
        context,
        head(kind, indexId),
        signal,
        () => current() !== undefined,
        tx => (isLast ? finish(tx) : undefined),
      );
    }
  });
}

// ---- TTL switched off

export function startExpiryRemoval(context: Context, table: Table): void {
  const current = () => {
    const current = context.catalog.findById(table.id);
    return current?.ttl?.status === 'DISABLING' ? current : undefined;
  };
  context.background(`remove the TTL index of table ${table.id}`, signal =>
    removeAll(
      context,
      head(space.ttl, table.id),
      signal,
      () => current() !== undefined,
      tx => {
        const { ttl: _, ...rest } = current()!;
        context.catalog.save(tx, rest);
      },
    ),
  );
}
