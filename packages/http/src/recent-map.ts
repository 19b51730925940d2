// A map that forgets what was used least recently when it has too much. A Map keeps the order of insertion, so
// whatever is set last is the most recent.
export type RecentMap<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  size(): number;
};

export function createRecentMap<Value>(mostKeys: number): RecentMap<Value> {
  const values = new Map<string, Value>();
  return {
    get: key => values.get(key),
    set(key, value) {
      values.delete(key);
      values.set(key, value);
      if (values.size > mostKeys) values.delete(values.keys().next().value!);
    },
    size: () => values.size,
  };
}
