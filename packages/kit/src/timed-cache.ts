import type { Clock } from './clock.ts';
import { createRecentMap } from './recent-map.ts';

/**
 * What was read a moment ago. It holds promises, so that callers who come during a read share it, and what is read
 * while somebody deletes the entry is forgotten with it. A read that fails is not kept.
 */
export type TimedCache<Value> = {
  // What is known and not too old; else what `read` gives. `fresh`: what is known will not do.
  load(key: string, read: () => Promise<Value>, fresh?: boolean): Promise<Value>;
  get(key: string): Promise<Value> | undefined;
  set(key: string, reading: Promise<Value>): Promise<Value>;
  delete(key: string): void;
};

/** Makes a cache of at most `most` values, each for `forMs` milliseconds. */
export function createTimedCache<Value>({
  clock,
  most,
  forMs,
}: {
  clock: Pick<Clock, 'now'>;
  most: number;
  forMs: number;
}): TimedCache<Value> {
  const entries = createRecentMap<string, { reading: Promise<Value>; sinceMs: number }>(most);

  const get = (key: string): Promise<Value> | undefined => {
    const entry = entries.get(key);
    const ageMs = entry && clock.now() - entry.sinceMs;
    // A clock may step back.
    return ageMs !== undefined && ageMs >= 0 && ageMs < forMs ? entry!.reading : undefined;
  };

  const set = (key: string, reading: Promise<Value>): Promise<Value> => {
    const entry = { reading, sinceMs: clock.now() };
    entries.set(key, entry);
    reading.catch(() => {
      if (entries.get(key) === entry) entries.delete(key);
    });
    return reading;
  };

  return {
    get,
    set,
    load: (key, read, fresh = false) => (fresh ? undefined : get(key)) ?? set(key, read()),
    delete: entries.delete,
  };
}
