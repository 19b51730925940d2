// A checksum of stored items, in JavaScript: a call of zlib's takes as long as ten small items take here. Pairs of words of
// 32 bits go to four sums, which the processor computes side by side. Every step is a bijection of the sum and of
// each word, so a change within one word always changes the result; any other one does with the probability of 32 random
// bits.

const headBytes = 3; // before the first word: an item's text begins at its ninth byte
const firstFactor = 0x9e3779b1 | 0;
const secondFactor = 0x85ebca77 | 0;
const thirdFactor = 0xc2b2ae3d | 0;
const fourthFactor = 0x27d4eb2f;

// LMDB passes values in one buffer of its own, and what is written is in a pool: a view is made now and then.
let viewed: ArrayBufferLike | undefined;
let view: Int32Array = new Int32Array(0);
let aligned = new Uint8Array(0);

// Changes in the upper bits reach the lower ones by rotation.
const rotate = (sum: number): number => (sum << 13) | (sum >>> 19);

/** Sums bytes `start` to `end`, with a number of 32 bits that belongs to them. */
export function wordSum(bytes: Uint8Array, start: number, end: number, seed: number): number {
  if (((bytes.byteOffset + start + headBytes) & 3) !== 0) return sumOfCopy(bytes, start, end, seed);
  if (bytes.buffer !== viewed) {
    viewed = bytes.buffer;
    view = new Int32Array(viewed, 0, viewed.byteLength >> 2);
  }
  const words = view;
  let a = seed ^ firstFactor;
  let b = secondFactor;
  let c = thirdFactor;
  let d = end - start;
  const wordsAt = Math.min(start + headBytes, end);
  let at = (bytes.byteOffset + start + headBytes) >> 2;
  const stop = at + ((end - wordsAt) >> 2);
  for (const last = stop - 8; at <= last; at += 8) {
    a = rotate((Math.imul(a ^ words[at]!, firstFactor) + words[at + 1]!) | 0);
    b = rotate((Math.imul(b ^ words[at + 2]!, secondFactor) + words[at + 3]!) | 0);
    c = rotate((Math.imul(c ^ words[at + 4]!, firstFactor) + words[at + 5]!) | 0);
    d = rotate((Math.imul(d ^ words[at + 6]!, secondFactor) + words[at + 7]!) | 0);
  }
  for (; at < stop; at++) a = rotate(Math.imul(a ^ words[at]!, firstFactor));
  for (let n = start; n < wordsAt; n++) b = rotate(Math.imul(b ^ bytes[n]!, secondFactor));
  for (let n = end - ((end - wordsAt) & 3); n < end; n++) b = rotate(Math.imul(b ^ bytes[n]!, secondFactor));
  let sum = rotate(Math.imul(a, thirdFactor)) ^ b;
  sum = rotate(Math.imul(sum, fourthFactor)) ^ c;
  sum = rotate(Math.imul(sum, thirdFactor)) ^ d;
  sum = Math.imul(sum ^ (sum >>> 15), fourthFactor);
  return (sum ^ (sum >>> 13)) >>> 0;
}

function sumOfCopy(bytes: Uint8Array, start: number, end: number, seed: number): number {
  const length = end - start;
  if (aligned.length < length + 4) aligned = new Uint8Array(2 * length + 64);
  aligned.set(bytes.subarray(start, end), 1);
  return wordSum(aligned, 1, 1 + length, seed);
}
