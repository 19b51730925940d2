export type Lag = { lag_ms: number; caught_up: boolean; set_aside?: boolean };
export type TableLag = { table: string; effects: Lag | undefined; lake: Lag | undefined };

type Stream = Lag & { consumer: string; table: string };

// By table: the slowest consumer of its stream, and the lake, which reports its own progress.
export function lagsOf(
  streams: readonly Stream[],
  lake: readonly (Lag & { table: string })[],
  others: readonly string[],
): TableLag[] {
  const tables = new Set([...streams, ...lake].map(one => one.table).concat(others));
  return [...tables].toSorted().map(table => {
    const own = streams.filter(stream => stream.table === table && !stream.consumer.startsWith('lake-'));
    const slowest = own.toSorted((a, b) => b.lag_ms - a.lag_ms)[0];
    const effects = slowest && {
      lag_ms: slowest.lag_ms,
      caught_up: own.every(one => one.caught_up),
      set_aside: own.some(one => one.set_aside),
    };
    return { table, effects, lake: lake.find(one => one.table === table) };
  });
}
