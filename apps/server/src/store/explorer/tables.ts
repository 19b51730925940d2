import type { Clock } from '@stak/kit';
import {
  type AccessPattern,
  type AnyEntity,
  type AnyTable,
  attributesOf,
  type CapacityEntry,
  type ControlPlane,
  type Ledger,
  patternsOf,
} from '@stak/table';
import type { TableDetails, TableSummary } from './schema.ts';

export type TablesDeps = {
  control: ControlPlane;
  clock: Clock;
  ledger: Ledger;
  designs: readonly AnyTable[];
  measure(table: AnyTable): Promise<readonly CapacityEntry[]>;
};

type TableDescription = {
  TableStatus?: string;
  ItemCount?: number;
  TableSizeBytes?: number;
  GlobalSecondaryIndexes?: {
    IndexName?: string;
    IndexStatus?: string;
    ItemCount?: number;
    IndexSizeBytes?: number;
  }[];
};

export type Tables = {
  find(name: string): AnyTable | undefined;
  list(): Promise<{ data: TableSummary[]; since: string }>;
  describe(table: AnyTable): Promise<TableDetails>;
};

// The tables of our designs, and no others in the same AWS account.
export function createTablesView({ control, clock, ledger, designs, measure }: TablesDeps): Tables {
  const since = new Date(clock.now()).toISOString();
  const measured = new Map<AnyTable, Promise<readonly CapacityEntry[]>>();
  const measureOnce = (table: AnyTable) => {
    const facts = measured.get(table) ?? measure(table);
    measured.set(table, facts);
    facts.catch(() => measured.delete(table));
    return facts;
  };
  const booked = ({ name }: AnyTable) => ledger.entries().filter(entry => entry.table === name);

  async function read({ name }: AnyTable): Promise<TableDescription> {
    const { Table = {} } = (await control.execute('DescribeTable', { TableName: name })) as {
      Table?: TableDescription;
    };
    return Table;
  }

  return {
    find: name => designs.find(design => design.name === name),
    async list() {
      const summarise = async (table: AnyTable): Promise<TableSummary> => ({
        ...factsOf(table, await read(table)),
        entities: table.entities.length,
        indexes: Object.keys(table.indexes).length,
        patterns: table.queries.length,
        ...sumOf(booked(table)),
      });
      return { data: await Promise.all(designs.map(summarise)), since };
    },
    async describe(table) {
      const [found, ttl_status, costs] = await Promise.all([
        read(table),
        readTtl(control, table),
        measureOnce(table),
      ]);
      return {
        ...factsOf(table, found),
        ttl_status,
        since,
        entities: table.entities.map(viewEntity),
        indexes: viewIndexes(table, found),
        patterns: viewPatterns(table, booked(table), costs),
      };
    },
  };
}

const factsOf = (table: AnyTable, described: TableDescription) => ({
  name: table.name,
  description: table.description ?? '',
  keys: { partition: table.keys.partition, sort: table.keys.sort ?? null },
  ttl: table.ttl ?? null,
  stream: table.stream ?? null,
  status: described.TableStatus ?? 'UNKNOWN',
  items: described.ItemCount ?? 0,
  bytes: described.TableSizeBytes ?? 0,
});

async function readTtl(control: ControlPlane, { name, ttl }: AnyTable): Promise<string | null> {
  if (ttl === undefined) return null;
  const { TimeToLiveDescription } = (await control.execute('DescribeTimeToLive', { TableName: name })) as {
    TimeToLiveDescription?: { TimeToLiveStatus?: string };
  };
  return TimeToLiveDescription?.TimeToLiveStatus ?? null;
}

const viewEntity = (entity: AnyEntity): TableDetails['entities'][number] => ({
  name: entity.name,
  kind: entity.kind ?? null,
  description: entity.description ?? '',
  expires: entity.hasTtl,
  version: entity.version ?? null,
  in_key_only: [...entity.inKeyOnly],
  keys: [{ ...entity.key, name: null }, ...entity.indexes].map(({ name, templates }) => ({
    index: name,
    partition: templates.partition.text,
    sort: templates.sort?.text ?? null,
  })),
  attributes: attributesOf(entity).map(({ isOptional, ...rest }) => ({ ...rest, is_optional: isOptional })),
});

const viewIndexes = (table: AnyTable, described: TableDescription): TableDetails['indexes'] =>
  Object.entries(table.indexes).map(([name, { partition, sort = null, project = 'ALL' }]) => {
    const live = described.GlobalSecondaryIndexes?.find(index => index.IndexName === name);
    return {
      name,
      keys: { partition, sort },
      projection: typeof project === 'string' ? project : 'INCLUDE',
      included: typeof project === 'string' ? [] : [...project],
      status: live?.IndexStatus ?? 'UNKNOWN',
      items: live?.ItemCount ?? 0,
      bytes: live?.IndexSizeBytes ?? 0,
    };
  });

// The declared and the measured costs, side by side. Operations on single items are listed only if they were used, or
// have an example.
function viewPatterns(
  table: AnyTable,
  booked: readonly CapacityEntry[],
  costs: readonly CapacityEntry[],
): TableDetails['patterns'] {
  const live = new Map(booked.map(entry => [entry.pattern, entry]));
  const examples = new Map(costs.map(entry => [entry.pattern, entry]));
  const declared = patternsOf(table).filter(
    ({ name, kind }) => kind === 'query' || live.has(name) || examples.has(name),
  );
  const names = new Set(declared.map(({ name }) => name));
  const others = booked
    .filter(({ pattern }) => !names.has(pattern))
    .map(({ pattern }) => otherPattern(pattern));
  return [...declared, ...others].map(({ name, kind, index = null, conditions, notes }) => ({
    name,
    kind,
    index,
    conditions: [...conditions],
    notes: [...notes],
    example: perCall(examples.get(name)),
    ...sumOf(live.has(name) ? [live.get(name)!] : []),
  }));
}

const otherPattern = (name: string): Omit<AccessPattern, 'kind'> & { kind: 'other' } => ({
  name,
  kind: 'other',
  conditions: [],
  notes: [],
});

function perCall(entry: CapacityEntry | undefined) {
  if (!entry || entry.calls === 0) return null;
  return { read_units: entry.readUnits / entry.calls, write_units: entry.writeUnits / entry.calls };
}

const sumOf = (entries: readonly CapacityEntry[]) => ({
  calls: entries.reduce((sum, entry) => sum + entry.calls, 0),
  read_units: entries.reduce((sum, entry) => sum + entry.readUnits, 0),
  write_units: entries.reduce((sum, entry) => sum + entry.writeUnits, 0),
});
