import type { Context } from '../context.ts';
import { expiryOf, projectedSize } from '../item-writer.ts';
import { decodeItem, decodeSize } from '../storage/codec.ts';
import type { Tx } from '../storage/committer.ts';
import { after, head, indexKey, prefixRange, space, ttlKey } from '../storage/keys.ts';
import type { Entry } from '../storage/store.ts';
import { type Index, type Table, type VectorIndex, vectorsOf } from '../storage/table.ts';
import type { Item } from '../values/attribute-value.ts';
import { entryKey } from '../vectors/records.ts';
import { addVector } from '../vectors/write.ts';

// Filling a new index while the table is in use. Writers maintain the index from the moment it exists; this
// walk gives an entry to the items that were there before. It looks at each item inside a transaction and adds
// only what is missing, so it may be started again from the beginning at any time, by several processes.

const itemsPerTransaction = 256;
const bytesPerTransaction = 1024 * 1024; // large items make smaller steps
const noBytes = Buffer.alloc(0);

type SizedItem = { item: Item; size: number };
const decodeSized = (bytes: Buffer, end: number): SizedItem => ({
  item: decodeItem(bytes, end),
  size: decodeSize(bytes),
});

// One walk over a table: `current` returns the table while the work is still needed.
type Fill = {
  current(): Table | undefined;
  add(tx: Tx, table: Table, key: Buffer, entry: SizedItem): void;
  finish(tx: Tx, table: Table): void;
};

export function startIndexFill(context: Context, table: Table, indexId: number): void {
  const indexOf = (current: Table): Index | undefined =>
    current.indexes.find(index => index.id === indexId && index.status === 'CREATING');
  context.background(`fill index ${indexId} of ${table.name}`, signal =>
    walkItems(context, table.id, signal, {
      current() {
        const current = context.catalog.findById(table.id);
        return current && indexOf(current) ? current : undefined;
      },
      add(tx, current, key, sized) {
        const index = indexOf(current)!;
        const entry = indexKey(index, sized.item, key);
        if (!entry || tx.has(entry)) return;
        tx.put(entry, key);
        tx.addSize(index.id, 1, projectedSize(current, index, sized));
      },
      finish(tx, current) {
        const indexes = current.indexes.map(index =>
          index.id === indexId ? { ...index, status: 'ACTIVE' as const } : index,
        );
        context.catalog.save(tx, { ...current, indexes });
      },
    }),
  );
}

export function startVectorFill(context: Context, table: Table, indexId: number): void {
  const indexOf = (current: Table): VectorIndex | undefined =>
    vectorsOf(current).find(index => index.id === indexId && index.status === 'CREATING');
  context.background(`fill vector index ${indexId} of ${table.name}`, signal =>
    walkItems(context, table.id, signal, {
      current() {
        const current = context.catalog.findById(table.id);
        return current && indexOf(current) ? current : undefined;
      },
      add(tx, current, key, sized) {
        if (!tx.has(entryKey(indexId, key))) addVector(tx, current, indexOf(current)!, key, sized);
      },
      finish(tx, current) {
        const vectors = vectorsOf(current).map(index =>
          index.id === indexId ? { ...index, status: 'ACTIVE' as const } : index,
        );
        context.catalog.save(tx, { ...current, vectors });
      },
    }),
  );
}

export function startExpiryFill(context: Context, table: Table): void {
  context.background(`fill the TTL index of table ${table.id}`, signal =>
    walkItems(context, table.id, signal, {
      current() {
        const current = context.catalog.findById(table.id);
        return current?.ttl?.status === 'ENABLING' ? current : undefined;
      },
      add(tx, current, key, { item }) {
        const expiry = expiryOf(item[current.ttl!.attribute]);
        if (expiry !== undefined) tx.put(ttlKey(current.id, expiry, key), noBytes);
      },
      finish(tx, current) {
        context.catalog.save(tx, { ...current, ttl: { ...current.ttl!, status: 'ENABLED' } });
      },
    }),
  );
}

async function walkItems(context: Context, tableId: number, signal: AbortSignal, fill: Fill): Promise<void> {
  let start: Buffer | undefined = head(space.item, tableId);
  const { end } = prefixRange(start);
  const step = (tx: Tx): Buffer | undefined => {
    const table = fill.current();
    if (!table) return undefined;
    const entries = readSome(context, start!, end);
    for (const { key, value } of entries) fill.add(tx, table, key, value);
    const last = entries.at(-1);
    if (last) return after(last.key);
    fill.finish(tx, table);
    return undefined;
  };
  while (start && !signal.aborted) start = await context.submit(step);
}

// Read before anything is written: a cursor does not survive writes of its own transaction.
function readSome(context: Context, start: Buffer, end: Buffer): Entry<SizedItem>[] {
  const entries: Entry<SizedItem>[] = [];
  let bytes = 0;
  for (const entry of context.store.range({ start, end }, decodeSized)) {
    entries.push(entry);
    bytes += entry.value.size;
    if (entries.length === itemsPerTransaction || bytes > bytesPerTransaction) break;
  }
  return entries;
}
