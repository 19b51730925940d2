import type { Store } from '../storage/store.ts';
import { type Codes, checkBlock, codesAt, slotBytes, viewBlock } from './blocks.ts';
import { createMemory, type Dots, dotsIn } from './kernel.ts';

// Blocks that searches have used, in the memory that the kernel reads: as many as fit, and no more. Blocks are never
// changed, so what is here is right for as long as something refers to it. The system gives the memory only when it is
// used for the first time.

/** A block of the store, and where it is in memory: -1 if it is not. */
export type BlockRef = { readonly key: Buffer; slot: number };

type LoadedBlock = Codes & { codesAt: number };

const pageBytes = 65_536;
const workBytes = 2 * slotBytes; // for a query and for sums

export type BlockCache = ReturnType<typeof createBlockCache>;

export function createBlockCache(store: Pick<Store, 'get'>, limitBytes: number) {
  const slots = Math.max(4, Math.floor(limitBytes / slotBytes) - 2);
  const memory = createMemory(((slots + 2) * slotBytes) / pageBytes);
  const bytes = new Uint8Array(memory.buffer);
  const dots: Dots = dotsIn(memory);
  const held: (BlockRef | undefined)[] = new Array(slots).fill(undefined);
  const blocks: (LoadedBlock | undefined)[] = new Array(slots).fill(undefined);
  const isRecent = new Uint8Array(slots);
  const sums = new Int32Array(memory.buffer, slotBytes, slotBytes / 4);
  let hand = 0;

  // The next slot that was not used since the hand passed it.
  function freeSlot(): number {
    while (true) {
      const slot = hand;
      hand = (hand + 1) % slots;
      if (isRecent[slot] === 1) isRecent[slot] = 0;
      else return slot;
    }
  }

  function load(ref: BlockRef, filters: number): LoadedBlock | undefined {
    if (ref.slot >= 0) {
      isRecent[ref.slot] = 1;
      return blocks[ref.slot];
    }
    const slot = freeSlot();
    const start = workBytes + slot * slotBytes;
    const isThere = store.get(ref.key, (value, end) => {
      checkBlock(value, end);
      const before = held[slot];
      if (before) before.slot = -1;
      bytes.set(value.subarray(0, end), start);
      return true;
    });
    if (!isThere) return undefined;
    const codes = viewBlock(memory.buffer, start, filters);
    const block = { ...codes, codesAt: start + codesAt(codes.numbers.length, filters) };
    held[slot] = ref;
    blocks[slot] = block;
    isRecent[slot] = 1;
    ref.slot = slot;
    return block;
  }

  return {
    load,
    /** Where the query is written before its dot products are asked for. */
    query: new Int16Array(memory.buffer, 0, slotBytes / 2),
    /** The dot products of the query with the codes of a block, until the next are asked for. */
    dots(block: LoadedBlock, stride: number): Int32Array {
      dots(0, block.codesAt, block.numbers.length, stride, slotBytes);
      return sums;
    },
  };
}
