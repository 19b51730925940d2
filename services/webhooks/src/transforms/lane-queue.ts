// First in, first out within a lane; the lanes take turns. A customer with a thousand events waiting delays the
// others by one.
export type LaneQueue<Item> = {
  size(lane?: string): number;
  push(lane: string, item: Item): void;
  // The next item of a lane that may have a turn.
  take(mayRun: (lane: string) => boolean): { lane: string; item: Item } | undefined;
};

export function createLaneQueue<Item>(): LaneQueue<Item> {
  const lanes = new Map<string, Item[]>();
  let size = 0;
  return {
    size: lane => (lane === undefined ? size : (lanes.get(lane)?.length ?? 0)),
    push(lane, item) {
      size += 1;
      const items = lanes.get(lane);
      if (items) items.push(item);
      else lanes.set(lane, [item]);
    },
    take(mayRun) {
      for (const [lane, items] of lanes) {
        if (!mayRun(lane)) continue;
        const item = items.shift() as Item;
        size -= 1;
        lanes.delete(lane);
        if (items.length > 0) lanes.set(lane, items); // to the end of the line
        return { lane, item };
      }
      return undefined;
    },
  };
}
