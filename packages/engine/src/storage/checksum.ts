import { crc32 } from 'node:zlib';

// LMDB passes values in a buffer of its own, which is longer than they are (its `length` is set to theirs, its
// `byteLength` is not). A view of its beginning, of each usual length, is made once: making one takes as long as the
// checksum of a small item.
const longestView = 4096;

let viewed: Uint8Array | undefined;
let viewsFrom = 0;
let views: (Uint8Array | undefined)[] = [];

function viewOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  if (end === bytes.byteLength || end > longestView) return bytes.subarray(start, end);
  if (viewed !== bytes || viewsFrom !== start) {
    viewed = bytes;
    viewsFrom = start;
    views = [];
  }
  const view = views[end] ?? bytes.subarray(start, end);
  views[end] = view;
  return view;
}

/** Sums bytes `start` to `end`, with a number of 32 bits that belongs to them. */
export const checksum = (bytes: Uint8Array, start: number, end: number, seed: number): number =>
  crc32(viewOf(bytes, start, end), seed >>> 0);
