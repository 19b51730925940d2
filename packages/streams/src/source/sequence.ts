import { hash } from 'node:crypto';

// For subscriptions that count: how far a shard is counted, and which counter it adds to.

/** Whether a sequence number comes after another one of the same shard. */
// Sequence numbers are whole numbers too long for a double: the longer one is greater.
export const isAfter = (sequence: string, through: string): boolean =>
  sequence.length === through.length ? sequence > through : sequence.length > through.length;

// The records of a page, each once. Streams give a record at least once: a page may repeat what an earlier one had, or
// what it has itself. Within a shard, sequence numbers only grow, so a number that does not is a repetition. Mostly there
// is none, and the page itself is returned.
export function eachOnceAfter<T>(
  records: readonly T[],
  through: string | undefined,
  sequenceOf: (record: T) => string,
): readonly T[] {
  let latest = through;
  const isNew = (record: T): boolean => {
    const sequence = sequenceOf(record);
    if (latest !== undefined && !isAfter(sequence, latest)) return false;
    latest = sequence;
    return true;
  };
  const first = records.findIndex(record => !isNew(record));
  return first === -1 ? records : [...records.slice(0, first), ...records.slice(first + 1).filter(isNew)];
}

/**
 * The changes of a page after a position of its shard. Every change that a handler gets is after the one before it, so a
 * page that has nothing from before is returned as it is.
 */
export function changesAfter<T extends { readonly sequence: string }>(
  changes: readonly T[],
  through: string,
): readonly T[] {
  const start = changes.findIndex(({ sequence }) => isAfter(sequence, through));
  return start === 0 ? changes : start === -1 ? [] : changes.slice(start);
}

/** Gives each shard of a stream its own slot, more or less, so that two shards rarely write to the same item. */
export const slotOf = (shard: string, slots: number): number =>
  Number.parseInt(hash('md5', shard).slice(0, 6), 16) % slots;
