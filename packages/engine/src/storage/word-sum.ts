// A checksum of stored items, in JavaScript: a call of zlib's takes as long as reading a small item, and this one a
// fiftieth of it. Words of 32 bits go to four sums in turn, which the processor computes side by side. Every step is a
// bijection of the sum and of the word, so a change within one word always changes the result; any other one does with
// the probability of 32 random bits.

let viewed: ArrayBufferLike | undefined;
let view: DataView = new DataView(new ArrayBuffer(0));

const first = 0x9e3779b1 | 0;
const second = 0x85ebca77 | 0;
const third = 0xc2b2ae3d | 0;
const fourth = 0x27d4eb2f;

// Changes in the upper bits reach the lower ones by turning.
const turn = (sum: number): number => (sum << 13) | (sum >>> 19);

/** Of bytes `start` to `end`, with a number of 32 bits that belongs to them. */
export function wordSum(bytes: Uint8Array, start: number, end: number, seed: number): number {
  // LMDB passes values in one buffer of its own, and what is written is in a pool: a view is made now and then.
  if (bytes.buffer !== viewed) {
    viewed = bytes.buffer;
    view = new DataView(viewed);
  }
  const words = view;
  let at = bytes.byteOffset + start;
  const stop = bytes.byteOffset + end;
  let a = seed ^ first;
  let b = second;
  let c = third;
  let d = stop - at;
  for (const last = stop - 16; at <= last; at += 16) {
    a = turn(Math.imul(a ^ words.getInt32(at, true), first));
    b = turn(Math.imul(b ^ words.getInt32(at + 4, true), second));
    c = turn(Math.imul(c ^ words.getInt32(at + 8, true), first));
    d = turn(Math.imul(d ^ words.getInt32(at + 12, true), second));
  }
  for (const last = stop - 4; at <= last; at += 4) a = turn(Math.imul(a ^ words.getInt32(at, true), first));
  for (; at < stop; at++) b = turn(Math.imul(b ^ words.getUint8(at), second));
  let sum = turn(Math.imul(a, third)) ^ b;
  sum = turn(Math.imul(sum, fourth)) ^ c;
  sum = turn(Math.imul(sum, third)) ^ d;
  sum = Math.imul(sum ^ (sum >>> 15), fourth);
  return (sum ^ (sum >>> 13)) >>> 0;
}
