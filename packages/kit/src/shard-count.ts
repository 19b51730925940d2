import type { Clock } from './clock.ts';
import * as limits from './limits.ts';
import type { Logger } from './log.ts';

/** The number of shards of a queue that several processes write to and read. */
export type ShardCount = {
  /** The number of shards to write to and to read. It never decreases. */
  current(): number;
  /**
   * Reads a number raised by another process, and raises it if this process needs more: at most once a minute, unless
   * it is `urgent`. A failure is logged, and the next call tries again.
   */
  refresh(urgent?: 'urgent'): Promise<void>;
};

/** The number is stored; each process says how many shards it wants. */
export type ShardCountDeps = {
  clock: Pick<Clock, 'now'>;
  log: Logger;
  least: number; // the number in a store that has none stored
  wanted?: number;
  read(): Promise<number | undefined>; // a consistent read
  raise(to: number): Promise<unknown>; // does nothing if the stored number is not lower
};

/**
 * The stored number only increases, and a process uses no number that it has not read there. So every process reads
 * every shard in use within a minute, and those that start later read it from the start.
 */
export function createShardCount(deps: ShardCountDeps): ShardCount {
  const { clock, log, least, wanted = least, read, raise } = deps;
  let count = least;
  let nextMs = Number.NEGATIVE_INFINITY;

  const agree = async (): Promise<number> => {
    const stored = (await read()) ?? least;
    if (stored >= wanted) return stored;
    await raise(wanted);
    return (await read()) ?? least;
  };

  return {
    current: () => count,
    async refresh(urgent) {
      if (!urgent && clock.now() < nextMs) return;
      nextMs = clock.now() + limits.shardCountMs;
      try {
        const agreed = await agree();
        if (agreed > count) log.info({ from: count, to: agreed }, 'the queue has more shards');
        count = Math.max(count, agreed);
      } catch (error) {
        nextMs = Number.NEGATIVE_INFINITY;
        log.warn({ err: error }, 'the number of shards could not be read');
      }
    },
  };
}
