import { createHash } from 'node:crypto';
import * as limits from './limits.ts';

// Remembers keys in four bytes each. A Bloom filter: about one in a million answers is a false positive, and none a
// false negative. When one filter is full, another one is added.
export function createKeyFilter() {
  const filters: Uint32Array[] = [];
  let room = 0;

  const bitsOf = (key: string): number[] => {
    const digest = createHash('md5').update(key).digest();
    const [first, step] = [digest.readUInt32LE(0), digest.readUInt32LE(4) | 1];
    return Array.from({ length: limits.filterHashes }, (_, i) => (first + i * step) % limits.filterBits);
  };
  const isSet = (filter: Uint32Array, bit: number) => ((filter[bit >>> 5]! >>> (bit & 31)) & 1) === 1;

  return {
    add(key: string): void {
      if (room === 0) {
        filters.push(new Uint32Array(limits.filterBits / 32));
        room = limits.filterKeys;
      }
      room -= 1;
      const filter = filters.at(-1)!;
      for (const bit of bitsOf(key)) filter[bit >>> 5]! |= 1 << (bit & 31);
    },
    has(key: string): boolean {
      const wanted = bitsOf(key);
      return filters.some(filter => wanted.every(bit => isSet(filter, bit)));
    },
  };
}
