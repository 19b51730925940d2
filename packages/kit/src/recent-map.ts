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

/** How much an entry of a map weighs, and how much all of them may weigh together. */
export type Weighing<Value> = {
  weigh(value: Value): number; // when it is set
  mostWeight: number; // of all values together; one that is heavier than half of it is not kept
};

/** Creates a map that holds at most `most` entries and drops those that were not used for long. */
// Two generations: a used entry moves to the young one, and when that is full, the old one is dropped as a whole. With
// an exact order, each use would have to delete an entry and add it again. A Map of few entries is then rebuilt at
// every other use, and each table that V8 discards holds the next one in memory: at ten thousand requests per second,
// garbage collection took a third of the processor's time.
export function createRecentMap<Key, Value>(
  most: number,
  { weigh, mostWeight }: Weighing<Value> = weightless,
): RecentMap<Key, Value> {
  const half = Math.max(1, Math.floor(most / 2));
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();
  let youngWeight = 0; // of everything that was set since it began: what was replaced or deleted stays counted

  const set = (key: Key, value: Value): void => {
    const weight = weigh(value);
    if (weight > mostWeight / 2) {
      remove(key);
      return;
    }
    const isHeavy = youngWeight + weight > mostWeight / 2;
    if (isHeavy || !young.has(key)) {
      old.delete(key);
      if (isHeavy || young.size === half) {
        old = young;
        young = new Map();
        youngWeight = 0;
        old.delete(key);
      }
    }
    youngWeight += weight;
    young.set(key, value);
  };
  const remove = (key: Key): void => {
    young.delete(key);
    old.delete(key);
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
    delete: remove,
    size: () => young.size + old.size,
  };
}

const weightless = { weigh: () => 0, mostWeight: Number.POSITIVE_INFINITY };
