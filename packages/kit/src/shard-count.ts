import type { Clock } from './clock.ts';
import * as limits from './limits.ts';
import type { Logger } from './log.ts';

/** How many shards a queue has that several processes write to and read. */
export type ShardCount = {
  /** Writes choose among so many, and all of them are read. It never falls. */
  current(): number;
  /**
   * Learns of a raise by another process, and makes its own: at most once a minute, unless it is `urgent`. A failure is
   * logged, and the next call tries again.
   */
  refresh(urgent?: 'urgent'): Promise<void>;
};

/** What `createShardCount` needs: the stored number, and how many shards this process wants. */
export type ShardCountDeps = {
  clock: Pick<Clock, 'now'>;
  log: Logger;
  least: number; // every store has these, also one that has no number yet
  wanted?: number;
  read(): Promise<number | undefined>; // consistently
  raise(to: number): Promise<unknown>; // does nothing where the stored number is not below it
};

/**
 * The stored number only rises, and a process uses none that it has not read there. So whatever shard something was
 * written to, every process reads it within a minute, and those that start later read it from the beginning.
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
