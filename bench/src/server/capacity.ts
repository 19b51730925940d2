export type PatternUnits = { table: string; pattern: string; readUnits: number; writeUnits: number };

const line = /^stak_capacity_units_total\{table="([^"]*)",pattern="([^"]*)",kind="(read|write)"\} (\S+)$/gm;

// Reads the cost of the server's calls to its store so far, by access pattern, as reported at /metrics.
export async function readSpent(url: string): Promise<PatternUnits[]> {
  return parseSpent(await (await fetch(`${url}/metrics`)).text());
}

export function parseSpent(metrics: string): PatternUnits[] {
  const spent = new Map<string, PatternUnits>();
  for (const [, table = '', pattern = '', kind, units] of metrics.matchAll(line)) {
    const key = `${table} ${pattern}`;
    const sum = spent.get(key) ?? { table, pattern, readUnits: 0, writeUnits: 0 };
    sum[kind === 'read' ? 'readUnits' : 'writeUnits'] += Number(units);
    spent.set(key, sum);
  }
  return [...spent.values()];
}

export function spentBetween(
  before: readonly PatternUnits[],
  after: readonly PatternUnits[],
): PatternUnits[] {
  return after.map(({ table, pattern, readUnits, writeUnits }) => {
    const earlier = before.find(spending => spending.table === table && spending.pattern === pattern);
    return {
      table,
      pattern,
      readUnits: readUnits - (earlier?.readUnits ?? 0),
      writeUnits: writeUnits - (earlier?.writeUnits ?? 0),
    };
  });
}
