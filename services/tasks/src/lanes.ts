// Work on one key at a time, in the order it came; different keys side by side. It spares callers of one process races
// that they would lose at the table, and decides nothing: other processes know nothing of it.
export type Lanes = { run<T>(key: string, work: () => Promise<T>): Promise<T>; size(): number };

export function createLanes(): Lanes {
  const lanes = new Map<string, Promise<unknown>>();
  return {
    size: () => lanes.size,
    run(key, work) {
      const before = lanes.get(key) ?? Promise.resolve();
      const mine = before.then(work, work);
      lanes.set(key, mine);
      const leave = () => {
        if (lanes.get(key) === mine) lanes.delete(key);
      };
      mine.then(leave, leave);
      return mine;
    },
  };
}
