import { itemDamaged } from '../errors.ts';
import { checksum } from '../storage/checksum.ts';
import type { DistanceFunction, VectorIndex } from '../storage/table.ts';
import { dot } from './distance.ts';

// Vectors as codes: a signed byte for each dimension, and a factor that makes them numbers again. They say which vectors
// may be near; how near those are is computed from the vectors. Codes are kept in blocks that are never changed.
//
// A block: checksum, count, then for each vector its number, its factor, its offset and four bytes of each filter's
// digest, and last the codes, each rounded up to 16 bytes. All begin where a block in memory has them aligned.

/** What ranks a vector: `2 × factor × (code · query) + offset` by EUCLIDEAN, without the 2 by the others. */
export type Codes = {
  numbers: Float64Array;
  factors: Float32Array;
  offsets: Float32Array;
  filters: Uint32Array;
  codes: Int8Array;
};

/** A block and its header fit eight pages of the store. */
const blockBytes = 65_520;
export const slotBytes = 65_536;
const mostCodes = 512;
export const largestCode = 127;

const strideOf = (dimensions: number): number => Math.ceil(dimensions / 16) * 16;

export type Shape = { stride: number; filters: number; capacity: number };

export function shapeOf({ dimensions, filters }: Pick<VectorIndex, 'dimensions' | 'filters'>): Shape {
  const stride = strideOf(dimensions);
  const each = stride + 16 + 4 * filters.length;
  return {
    stride,
    filters: filters.length,
    capacity: Math.min(mostCodes, Math.floor((blockBytes - 32) / each)),
  };
}

const numbersAt = 8;
const factorsAt = (count: number): number => numbersAt + 8 * count;
const offsetsAt = (count: number): number => factorsAt(count) + 4 * count;
const filtersAt = (count: number): number => offsetsAt(count) + 4 * count;
export const codesAt = (count: number, filters: number): number =>
  Math.ceil((filtersAt(count) + 4 * filters * count) / 16) * 16;

const seed = 0x636f6465;

export function emptyCodes(count: number, { stride, filters }: Shape): Codes {
  return {
    numbers: new Float64Array(count),
    factors: new Float32Array(count),
    offsets: new Float32Array(count),
    filters: new Uint32Array(count * filters),
    codes: new Int8Array(count * stride),
  };
}

export function encodeBlock(codes: Codes, { filters }: Shape): Buffer {
  const count = codes.numbers.length;
  const bytes = Buffer.alloc(codesAt(count, filters) + codes.codes.length);
  bytes.writeUInt32LE(count, 4);
  const copy = (part: Float64Array | Float32Array | Uint32Array | Int8Array, at: number) =>
    Buffer.from(part.buffer, part.byteOffset, part.byteLength).copy(bytes, at);
  copy(codes.numbers, numbersAt);
  copy(codes.factors, factorsAt(count));
  copy(codes.offsets, offsetsAt(count));
  copy(codes.filters, filtersAt(count));
  copy(codes.codes, codesAt(count, filters));
  bytes.writeUInt32LE(checksum(bytes, 4, bytes.length, seed), 0);
  return bytes;
}

export function checkBlock(bytes: Buffer, end: number): void {
  if (end < numbersAt || bytes.readUInt32LE(0) !== checksum(bytes, 4, end, seed)) throw itemDamaged();
}

/** Of a block at that address in memory, which begins at a multiple of 16. */
export function viewBlock(memory: ArrayBufferLike, start: number, filters: number): Codes {
  const count = new Uint32Array(memory, start + 4, 1)[0]!;
  return {
    numbers: new Float64Array(memory, start + numbersAt, count),
    factors: new Float32Array(memory, start + factorsAt(count), count),
    offsets: new Float32Array(memory, start + offsetsAt(count), count),
    filters: new Uint32Array(memory, start + filtersAt(count), count * filters),
    codes: new Int8Array(memory, start + codesAt(count, filters), 0),
  };
}

/** Writes the code of a vector as the one at `at`. */
export function writeCode(
  { factors, offsets, codes }: Codes,
  at: number,
  stride: number,
  vector: Float32Array,
  by: DistanceFunction,
): void {
  const step = largest(vector) / largestCode;
  const perStep = step === 0 ? 0 : 1 / step;
  for (let i = 0; i < vector.length; i++) codes[at * stride + i] = Math.round(vector[i]! * perStep);
  const square = by === 'DOT_PRODUCT' ? 0 : dot(vector, vector);
  factors[at] = by === 'COSINE' && square > 0 ? step / Math.sqrt(square) : step;
  offsets[at] = by === 'EUCLIDEAN' ? -square : 0;
}

// Sums of 4,096 products with a byte stay within 32 bits.
const largestStep = 4095;

/** A query as whole numbers, written to `target`; returns what they are multiples of. */
export function writeQuery(target: Int16Array, query: Float32Array): number {
  const step = largest(query) / largestStep;
  const perStep = step === 0 ? 0 : 1 / step;
  target.fill(0);
  for (let i = 0; i < query.length; i++) target[i] = Math.round(query[i]! * perStep);
  return step;
}

function largest(vector: Float32Array): number {
  let most = 0;
  for (let i = 0; i < vector.length; i++) most = Math.max(most, Math.abs(vector[i]!));
  return most;
}
