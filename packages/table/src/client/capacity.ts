import type { Capacity } from './client.ts';

/** The capacity that an access pattern has consumed of a table, as DynamoDB bills it. */
export type CapacityEntry = {
  readonly pattern: string;
  readonly table: string;
  readonly calls: number;
  readonly readUnits: number;
  readonly writeUnits: number;
};

/** Sums of consumed capacity units. Created with `createLedger`. */
export type Ledger = {
  record(kind: 'read' | 'write', pattern: string, capacity: Capacity | Capacity[] | undefined): void;
  entries(): CapacityEntry[];
  clear(): void;
};

type Sum = { -readonly [K in keyof CapacityEntry]: CapacityEntry[K] };

/** Counts the capacity units that each access pattern consumes. Pass it to `createStore`. */
export function createLedger(): Ledger {
  const sums: Sum[] = [];
  // By table and pattern. Joining the two into one name would take longer than the rest.
  const byTable = new Map<string, Map<string, Sum>>();

  function sumOf(pattern: string, table: string): Sum {
    const entry = byTable.get(table)?.get(pattern);
    if (entry) return entry;
    const sum = { pattern, table, calls: 0, readUnits: 0, writeUnits: 0 };
    sums.push(sum);
    byTable.set(table, (byTable.get(table) ?? new Map<string, Sum>()).set(pattern, sum));
    return sum;
  }

  function add(kind: 'read' | 'write', pattern: string, capacity: Capacity): void {
    const sum = sumOf(pattern, capacity.TableName ?? '');
    sum.calls += 1;
    sum[kind === 'read' ? 'readUnits' : 'writeUnits'] += capacity.CapacityUnits ?? 0;
  }

  return {
    record(kind, pattern, capacity) {
      if (Array.isArray(capacity)) for (const usage of capacity) add(kind, pattern, usage);
      else if (capacity) add(kind, pattern, capacity);
    },
    entries: () => sums.map(sum => ({ ...sum })),
    clear() {
      sums.length = 0;
      byTable.clear();
    },
  };
}
