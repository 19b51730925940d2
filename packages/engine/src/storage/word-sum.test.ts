import fc from 'fast-check';
import { expect, it } from 'vitest';
import { wordSum } from './word-sum.ts';

const content = fc.uint8Array({ minLength: 0, maxLength: 300 });

it('is the same wherever the bytes are', () => {
  fc.assert(
    fc.property(content, fc.nat(), fc.nat(40), (bytes, seed, offset) => {
      const moved = new Uint8Array(bytes.length + 80);
      moved.set(bytes, offset);
      const sum = wordSum(bytes, 0, bytes.length, seed);
      expect(wordSum(moved, offset, offset + bytes.length, seed)).toBe(sum);
      expect(wordSum(Buffer.from(bytes), 0, bytes.length, seed)).toBe(sum);
    }),
  );
});

it('changes with every bit, with the length and with the number that belongs to the bytes', () => {
  fc.assert(
    fc.property(content, fc.nat(), fc.nat(), (bytes, seed, at) => {
      const sum = wordSum(bytes, 0, bytes.length, seed);
      expect(wordSum(bytes, 0, bytes.length, seed ^ 1)).not.toBe(sum);
      if (bytes.length === 0) return;
      expect(wordSum(bytes, 0, bytes.length - 1, seed)).not.toBe(sum);
      const flipped = Uint8Array.from(bytes);
      flipped[at % bytes.length]! ^= 1 << (at % 8);
      expect(wordSum(flipped, 0, bytes.length, seed)).not.toBe(sum);
    }),
  );
});
