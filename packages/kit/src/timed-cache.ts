import type { Clock } from './clock.ts';
import { createRecentMap, type Weighing } from './recent-map.ts';

/**
 * Values that were read recently. It holds promises, so that concurrent callers share a read. A value that is read
 * while its entry is deleted is not kept, and neither is a failed read.
 */
export type TimedCache<Value> = {
  // The cached value if it is not too old; otherwise the result of `read`. `fresh` ignores the cache.
  load(key: string, read: () => Promise<Value>, fresh?: boolean): Promise<Value>;
  get(key: string): Promise<Value> | undefined;
  // The cached value itself, without waiting; undefined also while it is being read.
  peek(key: string): Value | undefined;
  set(key: string, reading: Promise<Value>): Promise<Value>;
  delete(key: string): void;
};

/** Creates a cache of at most `most` values, each for `forMs` milliseconds. */
export function createTimedCache<Value>({
  clock,
  most,
  forMs,
  weighing,
}: {
  clock: Pick<Clock, 'now'>;
  most: number;
  forMs: number;
  weighing?: Weighing<Value>;
}): TimedCache<Value> {
  type Entry = { reading: Promise<Value>; value?: Value; sinceMs: number; weight: number };
  const entries = createRecentMap<string, Entry>(
    most,
    weighing && { weigh: ({ weight }) => weight, mostWeight: weighing.mostWeight },
  );

  const find = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    const ageMs = entry && clock.now() - entry.sinceMs;
    // A clock may step back.
    return ageMs !== undefined && ageMs >= 0 && ageMs < forMs ? entry : undefined;
  };
  const get = (key: string): Promise<Value> | undefined => find(key)?.reading;

  const set = (key: string, reading: Promise<Value>): Promise<Value> => {
    const entry: Entry = { reading, sinceMs: clock.now(), weight: 0 };
    entries.set(key, entry);
    const isKept = () => entries.get(key) === entry;
    reading.then(
      value => {
        entry.value = value;
        if (!weighing || !isKept()) return;
        entry.weight = weighing.weigh(value);
        entries.set(key, entry);
      },
      () => {
        if (isKept()) entries.delete(key);
      },
    );
    return reading;
  };

  return {
    get,
    peek: key => find(key)?.value,
    set,
    load: (key, read, fresh = false) => (fresh ? undefined : get(key)) ?? set(key, read()),
    delete: entries.delete,
  };
}
