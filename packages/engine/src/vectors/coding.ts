import type { Context } from '../context.ts';
import type { Tx } from '../storage/committer.ts';
import { type Table, type VectorIndex, vectorsOf } from '../storage/table.ts';
import { emptyCodes, encodeBlock, shapeOf, writeCode } from './blocks.ts';
import { createVectorReader, numberOf, vectorKey, vectorsIn } from './records.ts';
import { exactVectors } from './size.ts';
import {
  blockKey,
  blocksOf,
  noState,
  type PartitionState,
  readCount,
  readState,
  saveState,
} from './state.ts';

// Gives codes to the vectors of a large partition, a block at a time, each in one transaction. Vectors that do not fill
// a block are compared as they are. A partition that lost its last vector loses its codes too.

export const indexById = (
  { catalog }: Context,
  tableId: number,
  indexId: number,
): { table: Table; index: VectorIndex } | undefined => {
  const table = catalog.findById(tableId);
  const index = table && vectorsOf(table).find(({ id, status }) => id === indexId && status !== 'DELETING');
  return table && index && { table, index };
};

const removalsPerTransaction = 256;

/** Returns whether there is more to do. */
export function codeSome(context: Context, tx: Tx, index: VectorIndex, partition: Buffer): boolean {
  const { store } = context;
  const count = readCount(store, index.id, partition);
  const state = readState(store, index.id, partition);
  if (count.live === 0) {
    if (!state || state.flat + state.build + state.addition === 0) return false;
    return removeCodes(context, tx, index, partition, {
      ...noState,
      version: state.version + 1,
      coded: count.next,
    });
  }
  const known = state ?? noState;
  const shape = shapeOf(index);
  if (count.live <= exactVectors(index) || count.next - known.coded < shape.capacity) return false;
  const codes = emptyCodes(shape.capacity, shape);
  const read = createVectorReader(index);
  const { end } = vectorsIn(index.id, partition);
  let filled = 0;
  const start = vectorKey(index.id, { partition, number: known.coded });
  for (const { key, value } of store.range({ start, end }, read)) {
    codes.numbers[filled] = numberOf(key);
    for (let i = 0; i < shape.filters; i++)
      codes.filters[filled * shape.filters + i] = value.filters.readUInt32LE(16 * i);
    writeCode(codes, filled, shape.stride, value.vector, index.distance);
    filled += 1;
    if (filled === shape.capacity) break;
  }
  if (filled < shape.capacity) return false;
  const last = codes.numbers[filled - 1]!;
  tx.put(
    blockKey(index.id, partition, { build: 0, cell: 0, number: codes.numbers[0]! }),
    encodeBlock(codes, shape),
  );
  saveState(tx, index.id, partition, {
    ...known,
    version: known.version + 1,
    coded: last + 1,
    flat: known.flat + filled,
  });
  return true;
}

// The version stays above all that were, or a process would mistake its list of blocks for the right one.
function removeCodes(
  { store }: Context,
  tx: Tx,
  index: VectorIndex,
  partition: Buffer,
  after: PartitionState,
): boolean {
  let removed = 0;
  for (const key of keysOf(store, index, partition)) {
    tx.remove(key);
    removed += 1;
  }
  if (removed === removalsPerTransaction) return true;
  saveState(tx, index.id, partition, after);
  return false;
}

function keysOf(store: Context['store'], index: VectorIndex, partition: Buffer): Buffer[] {
  const keys: Buffer[] = [];
  for (const { key } of store.keys(blocksOf(index.id, partition))) {
    keys.push(Buffer.from(key));
    if (keys.length === removalsPerTransaction) break;
  }
  return keys;
}
