import { hash } from 'node:crypto';

// For subscriptions that count: how far a shard is counted, and which counter it adds to.

/** Whether a sequence number comes after another one of the same shard. */
// Sequence numbers are whole numbers too long for a double: the longer one is greater.
export const isAfter = (sequence: string, through: string): boolean =>
  sequence.length === through.length ? sequence > through : sequence.length > through.length;

/** Gives each shard of a stream its own slot, more or less, so that two shards rarely write to the same item. */
export const slotOf = (shard: string, slots: number): number =>
  Number.parseInt(hash('md5', shard).slice(0, 6), 16) % slots;
