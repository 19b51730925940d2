import type { Tx } from '../storage/committer.ts';
import { head, type KeyRange, prefixRange, space } from '../storage/keys.ts';
import { decodeJson, encodeJson, type Store } from '../storage/store.ts';
import { countKey, decodeCount, type VectorCount } from './records.ts';

// What is known of a partition beside its vectors, once it is too large to compare them all: how far they have codes,
// and which build sorted those into cells. Codes that came since are in flat blocks, which belong to build 0, until an
// addition sorts them into the same cells.

export type PartitionState = {
  version: number; // of everything below, and of the list of blocks
  coded: number; // every vector with a lower number has a code
  flat: number; // codes in flat blocks
  build: number; // 0 if there was none
  sorted: number; // codes in the cells of the build
  addition: number; // the build of the codes that were added to those cells since; 0 if there was none
  added: number; // codes in it
};

export const noState: PartitionState = {
  version: 0,
  coded: 0,
  flat: 0,
  build: 0,
  sorted: 0,
  addition: 0,
  added: 0,
};

/** Codes in cells. */
export const sortedIn = ({ sorted, added }: PartitionState): number => sorted + added;

const stateKey = (indexId: number, partition: Buffer): Buffer =>
  Buffer.concat([head(space.vectorState, indexId), partition]);

export const readState = (
  { get }: Pick<Store, 'get'>,
  indexId: number,
  partition: Buffer,
): PartitionState | undefined => {
  const state = get(stateKey(indexId, partition), decodeJson) as PartitionState | undefined;
  return state && { ...noState, ...state };
};

export const saveState = (tx: Tx, indexId: number, partition: Buffer, state: PartitionState): void =>
  tx.put(stateKey(indexId, partition), encodeJson(state));

const fewestToSort = 8192;
const mostFlat = 4096;

/** A build of everything finds new cells; an addition keeps those of the last build. */
export type BuildKind = 'everything' | 'addition';

/** What is to be built, because flat blocks, cells that are out of date or codes of vectors that are gone slow searches down. */
export function dueBuild(state: PartitionState, live: number): BuildKind | undefined {
  const { flat, build, sorted, added } = state;
  const codes = flat + sortedIn(state);
  const isOutOfDate = flat + added > Math.max(fewestToSort, sorted / 4);
  const isMostlyGone = codes > fewestToSort && codes > 1.5 * live + fewestToSort;
  if (isOutOfDate || isMostlyGone) return 'everything';
  return build !== 0 && flat > mostFlat ? 'addition' : undefined;
}

export const readCount = ({ get }: Pick<Store, 'get'>, indexId: number, partition: Buffer): VectorCount =>
  get(countKey(indexId, partition), decodeCount) ?? { next: 0, live: 0 };

// ---- keys of blocks: index, partition, build, cell, number

export const centroids = 0xffffffff; // their cell
const tailBytes = 14;

export function blockKey(
  indexId: number,
  partition: Buffer,
  { build, cell, number }: { build: number; cell: number; number: number },
): Buffer {
  const tail = Buffer.allocUnsafe(tailBytes);
  tail.writeUInt32BE(build, 0);
  tail.writeUInt32BE(cell, 4);
  tail.writeUIntBE(number, 8, 6);
  return Buffer.concat([head(space.vectorBlock, indexId), partition, tail]);
}

export const buildOf = (key: Buffer): number => key.readUInt32BE(key.length - tailBytes);
export const cellOf = (key: Buffer): number => key.readUInt32BE(key.length - tailBytes + 4);

export function blocksOf(indexId: number, partition: Buffer, build?: number): KeyRange {
  const prefix = Buffer.concat([head(space.vectorBlock, indexId), partition]);
  if (build === undefined) return prefixRange(prefix);
  const number = Buffer.allocUnsafe(4);
  number.writeUInt32BE(build);
  return prefixRange(Buffer.concat([prefix, number]));
}

/** Forgets all codes of a partition: they are made again when it is searched or written. */
export function forgetCodes(
  store: Pick<Store, 'get' | 'keys'>,
  tx: Tx,
  indexId: number,
  partition: Buffer,
): void {
  const keys = [...store.keys(blocksOf(indexId, partition))].map(({ key }) => Buffer.from(key));
  for (const key of keys) tx.remove(key);
  const { version } = readState(store, indexId, partition) ?? noState;
  saveState(tx, indexId, partition, { ...noState, version: version + 1 });
}
