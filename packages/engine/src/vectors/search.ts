import type { Context } from '../context.ts';
import type { Table, VectorIndex } from '../storage/table.ts';
import { findLikely } from './approximate.ts';
import { type Distance, distanceFrom } from './distance.ts';
import { createNearest } from './nearest.ts';
import { createVectorReader, itemKeyOf, type VectorRecord, vectorKey, vectorsIn } from './records.ts';
import { exactVectors } from './size.ts';
import { dueBuild, readCount, readState, sortedIn } from './state.ts';

// The items whose vectors are nearest. Those of equal distance are in the order of a Scan.

export type Wanted = {
  vector: Float32Array;
  partition: Buffer;
  // For each filter of the index the digest of the value it must have; undefined if any may do.
  filters: readonly (Buffer | undefined)[];
  count: number;
};

export type Found = { distance: number; key: Buffer };

export function findNearest(context: Context, table: Table, index: VectorIndex, wanted: Wanted): Found[] {
  const nearest = createNearest<Found>(wanted.count, (a, b) => a.key.compare(b.key) < 0);
  const read = createVectorReader(index);
  const offer = createOffer(table, wanted, distanceFrom(wanted.vector, index.distance), nearest);
  const { store, vectors } = context;
  const count = readCount(store, index.id, wanted.partition);
  const isLarge = count.live > exactVectors(index);
  const state = isLarge ? readState(store, index.id, wanted.partition) : undefined;
  if (state) {
    const query = { vector: wanted.vector, filters: wanted.filters.map(wordOf), count: wanted.count };
    const directory = vectors.directoryOf(index.id, wanted.partition, state);
    for (const { number, least } of findLikely(vectors.cache(), index, directory, sortedIn(state), query)) {
      if (least > nearest.farthest()) continue;
      store.get(vectorKey(index.id, { partition: wanted.partition, number }), (bytes, end) =>
        offer(read(bytes, end)),
      );
    }
  }
  // Those without codes: all of a small partition, the newest of a large one.
  const first = vectorKey(index.id, { partition: wanted.partition, number: state?.coded ?? 0 });
  let compared = 0;
  store.each(
    { start: first, end: vectorsIn(index.id, wanted.partition).end },
    (bytes, end) => offer(read(bytes, end)),
    () => {
      compared += 1;
      return true;
    },
  );
  if (isLarge && (compared > exactVectors(index) || (state && dueBuild(state, count.live))))
    vectors.look({ tableId: table.id, indexId: index.id, partition: wanted.partition });
  return nearest.sorted();
}

const wordOf = (digest: Buffer | undefined): number | undefined => digest?.readUInt32LE(0);

function createOffer(
  table: Table,
  wanted: Wanted,
  distanceOf: Distance,
  nearest: ReturnType<typeof createNearest<Found>>,
): (record: VectorRecord) => void {
  return record => {
    if (!matches(record, wanted)) return;
    const distance = distanceOf(record.vector);
    if (distance <= nearest.farthest()) nearest.offer({ distance, key: itemKeyOf(table.id, record.base) });
  };
}

const digestBytes = 16;

function matches({ filters }: VectorRecord, wanted: Wanted): boolean {
  for (let i = 0; i < wanted.filters.length; i++) {
    const digest = wanted.filters[i];
    if (digest && !digest.equals(filters.subarray(i * digestBytes, (i + 1) * digestBytes))) return false;
  }
  return true;
}
