/**
 * A map of bounded size that drops entries that were not used for long. It holds at most `most` entries, and always the
 * most recently used half of them.
 */
export type RecentMap<Key, Value> = {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  size(): number;
};

/** Creates a map that holds at most `most` entries and drops those that were not used for long. */
// Two generations: a used entry moves to the young one, and when that is full, the old one is dropped as a whole. With
// an exact order, each use would have to delete an entry and add it again. A Map of few entries is then rebuilt at
// every other use, and each table that V8 discards holds the next one in memory: at ten thousand requests per second,
// garbage collection took a third of the processor's time.
export function createRecentMap<Key, Value>(most: number): RecentMap<Key, Value> {
  const half = Math.max(1, Math.floor(most / 2));
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();

  const set = (key: Key, value: Value): void => {
    if (!young.has(key)) {
      old.delete(key);
      if (young.size === half) {
        old = young;
        young = new Map();
      }
    }
    young.set(key, value);
  };

  return {
    set,
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const older = old.get(key);
      if (older !== undefined) set(key, older);
      return older;
    },
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
    size: () => young.size + old.size,
  };
}
