export type Spent = { table: string; pattern: string; readUnits: number; writeUnits: number };

const line = /^stak_capacity_units_total\{table="([^"]*)",pattern="([^"]*)",kind="(read|write)"\} (\S+)$/gm;

// Reads the cost of the server's calls to its store so far, by access pattern, as reported at /metrics.
export async function readSpent(url: string): Promise<Spent[]> {
  return parseSpent(await (await fetch(`${url}/metrics`)).text());
}

export function parseSpent(metrics: string): Spent[] {
  const spent = new Map<string, Spent>();
  for (const [, table = '', pattern = '', kind, units] of metrics.matchAll(line)) {
    const key = `${table} ${pattern}`;
    const one = spent.get(key) ?? { table, pattern, readUnits: 0, writeUnits: 0 };
    one[kind === 'read' ? 'readUnits' : 'writeUnits'] += Number(units);
    spent.set(key, one);
  }
  return [...spent.values()];
}

export function spentBetween(before: readonly Spent[], after: readonly Spent[]): Spent[] {
  return after.map(({ table, pattern, readUnits, writeUnits }) => {
    const known = before.find(one => one.table === table && one.pattern === pattern);
    return {
      table,
      pattern,
      readUnits: readUnits - (known?.readUnits ?? 0),
      writeUnits: writeUnits - (known?.writeUnits ?? 0),
    };
  });
}
