export type Recent<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value, size?: number): void;
  delete(key: string): void;
};

// Remembers what was used last, up to a number of entries and, where they are measured, a total size.
export function createRecent<Value>(mostEntries: number, mostSize = Number.POSITIVE_INFINITY): Recent<Value> {
  const entries = new Map<string, { value: Value; size: number }>();
  let total = 0;

  const remove = (key: string) => {
    total -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  };

  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, size = 0) {
      remove(key);
      entries.set(key, { value, size });
      total += size;
      for (const oldest of entries.keys()) {
        if (entries.size <= mostEntries && total <= mostSize) break;
        remove(oldest);
      }
    },
    delete: remove,
  };
}
