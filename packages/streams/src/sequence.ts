import { hash } from 'node:crypto';

// For subscriptions that count: how far a shard is counted, and which counter it adds to.

/** Whether a sequence number comes after another one of the same shard. */
// Sequence numbers are whole numbers too long for a double: the longer one is greater.
export const isAfter = (sequence: string, through: string): boolean =>
  sequence.length === through.length ? sequence > through : sequence.length > through.length;

/**
 * The changes of a shard after a position, each once. Streams give a change at least once: a page may repeat what an
 * earlier one had, or what it has itself.
 */
export function eachOnceAfter<T>(
  changes: readonly T[],
  through: string,
  sequenceOf: (change: T) => string,
): T[] {
  let latest = through;
  return changes.filter(change => {
    const sequence = sequenceOf(change);
    if (!isAfter(sequence, latest)) return false;
    latest = sequence;
    return true;
  });
}

/** Gives each shard of a stream its own slot, more or less, so that two shards rarely write to the same item. */
export const slotOf = (shard: string, slots: number): number =>
  Number.parseInt(hash('md5', shard).slice(0, 6), 16) % slots;
