import type { VectorIndex } from '../storage/table.ts';
import type { BlockCache, BlockRef } from './block-cache.ts';
import { largestCode, shapeOf, writeQuery } from './blocks.ts';
import type { Directory } from './directory.ts';
import { dot } from './distance.ts';
import { createNearest } from './nearest.ts';

// Which vectors of a large partition may be the nearest: those whose codes rank best among the flat blocks and among the
// cells whose centroids are nearest to the query. The caller compares the vectors themselves.

/** No vector with this number is nearer than `least`, but for one in a million. */
type Likely = { number: number; least: number };

type Ranked = { distance: number; number: number; factor: number };

type Query = {
  vector: Float32Array;
  // Of each filter the first four bytes of the digest that it must have; undefined if any may do.
  filters: readonly (number | undefined)[];
  count: number;
};

// Cells are read until they had so many codes, and so many that the filters allow.
const searchedShare = 0.06;
const fewestSearched = 4096;
const fewestMatching = (count: number): number => 100 + 20 * count;
const likelyCount = (count: number): number => 88 + 4 * count;

export function findLikely(
  cache: BlockCache,
  index: VectorIndex,
  directory: Directory,
  sorted: number,
  { vector, filters, count }: Query,
): Likely[] {
  const { stride, filters: filterCount } = shapeOf(index);
  const likely = createNearest<Ranked>(likelyCount(count), (a, b) => a.number < b.number);
  const query = index.distance === 'COSINE' ? unit(vector) : vector;
  const step = writeQuery(cache.query.subarray(0, stride), query);
  const tests = filters.flatMap((wanted, at) => (wanted === undefined ? [] : [{ wanted, at }]));
  let searched = 0;
  let matching = 0;

  function rank(ref: BlockRef, factor: number, offerTo: typeof likely, isOfVectors: boolean): void {
    const block = cache.load(ref, filterCount);
    if (!block) return; // a later build has replaced it
    const { numbers, factors, offsets, filters: digests } = block;
    const sums = cache.dots(block, stride);
    if (isOfVectors) searched += numbers.length;
    for (let i = 0; i < numbers.length; i++) {
      if (isOfVectors && tests.length > 0) {
        if (!tests.every(({ wanted, at }) => digests[i * filterCount + at] === wanted)) continue;
      }
      if (isOfVectors) matching += 1;
      const distance = -(factor * step * factors[i]! * sums[i]! + offsets[i]!);
      if (distance < offerTo.farthest())
        offerTo.offer({ distance, number: numbers[i]!, factor: factors[i]! });
    }
  }

  const byDistance = index.distance === 'EUCLIDEAN' ? 2 : 1;
  for (const ref of directory.flat) rank(ref, byDistance, likely, true);
  searched = 0;
  const cells = createNearest<Ranked>(Number.POSITIVE_INFINITY, (a, b) => a.number < b.number);
  for (const ref of directory.centroids) rank(ref, 1, cells, false);
  const enough = Math.max(fewestSearched, searchedShare * sorted);
  for (const { number: cell } of cells.sorted()) {
    if (searched >= enough && matching >= fewestMatching(count)) break;
    for (const ref of directory.cells.get(cell) ?? []) rank(ref, byDistance, likely, true);
    for (const ref of directory.added.get(cell) ?? []) rank(ref, byDistance, likely, true);
  }
  const leastOf = createBound(index, query, step, stride);
  return likely.sorted().map(ranked => ({ number: ranked.number, least: leastOf(ranked) }));
}

// A code and a query are rounded in each dimension, by half a step at most: the error of their product is a sum of many
// small ones, and is normally distributed.
function createBound(
  { distance: by }: VectorIndex,
  query: Float32Array,
  step: number,
  stride: number,
): (ranked: Ranked) => number {
  const square = dot(query, query);
  const longest = largestCode * Math.sqrt(stride);
  const deviation = (Math.sqrt(square) + longest * step) / Math.sqrt(12);
  return ({ distance, factor }) => {
    const least = distance - deviations * deviation * factor * (by === 'EUCLIDEAN' ? 2 : 1);
    if (by === 'EUCLIDEAN') return Math.sqrt(Math.max(0, square + least));
    return by === 'COSINE' ? 1 + least : least;
  };
}

const deviations = 5;

function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return length === 0 ? vector : vector.map(value => value / length);
}
