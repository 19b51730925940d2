import { type Image, projectedNames, projectedSize } from './item-writer.ts';
import { attributesOfKey, type Index, type Table, type VectorIndex, vectorsOf } from './storage/table.ts';
import { equalValues } from './values/compare.ts';
import { partitionOf } from './vectors/records.ts';
import { vectorSize, visibleNames } from './vectors/size.ts';
import { vectorOf } from './vectors/values.ts';

// Counts units as DynamoDB bills them.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html

export type CapacityMode = 'NONE' | 'TOTAL' | 'INDEXES' | undefined;
export type Usage = {
  table: number;
  indexes: Map<Index, number>;
  vectors?: Map<string, number>; // bytes, by the name of a vector index; units do not include them
  kind: 'read' | 'write';
};

type Units = { CapacityUnits: number; ReadCapacityUnits?: number; WriteCapacityUnits?: number };
export type ConsumedCapacity = Units & {
  TableName: string;
  Table?: Units;
  LocalSecondaryIndexes?: Record<string, Units>;
  GlobalSecondaryIndexes?: Record<string, Units>;
  VectorIndexes?: Record<string, { VectorWriteRequestBytes: number }>;
};

export const readUnits = (bytes: number, consistent: boolean | undefined): number =>
  Math.max(1, Math.ceil(bytes / 4096)) * (consistent ? 1 : 0.5);

const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1024));

export const readUsage = (units: number, index?: Index): Usage => ({
  kind: 'read',
  table: index ? 0 : units,
  indexes: index ? new Map([[index, units]]) : new Map(),
});

export function writeUsage(table: Table, before: Image | undefined, after: Image | undefined): Usage {
  const usage: Usage = {
    kind: 'write',
    table: writeUnits(Math.max(before?.size ?? 0, after?.size ?? 0)),
    indexes: new Map(),
  };
  for (const index of table.indexes) {
    const units = indexWriteUnits(table, index, before, after);
    if (units > 0) usage.indexes.set(index, units);
  }
  for (const index of vectorsOf(table)) {
    const bytes = vectorWriteBytes(table, index, before, after);
    if (bytes === 0) continue;
    usage.vectors ??= new Map();
    usage.vectors.set(index.name, bytes);
  }
  return usage;
}

const fewestVectorBytes = 1024;

// Counts what the index held or holds now; nothing if that has not changed.
function vectorWriteBytes(table: Table, index: VectorIndex, before?: Image, after?: Image): number {
  const old = before && hasVector(index, before) ? before : undefined;
  const next = after && hasVector(index, after) ? after : undefined;
  if (!old && !next) return 0;
  if (old && next) {
    const names = visibleNames(table, index) ?? [...Object.keys(old.item), ...Object.keys(next.item)];
    const isSame = [...names, index.attribute].every(name => sameAttribute(name, old, next));
    if (isSame) return 0;
  }
  return Math.max(fewestVectorBytes, vectorSize(table, index, (next ?? old)!));
}

const hasVector = (index: VectorIndex, { item }: Image): boolean =>
  vectorOf(item[index.attribute], index.dimensions) !== undefined && partitionOf(index, item) !== undefined;

// A key that moves is a delete and a put; a projection that did not change is free.
function indexWriteUnits(table: Table, index: Index, before?: Image, after?: Image): number {
  const old = before && isIn(index, before) ? before : undefined;
  const next = after && isIn(index, after) ? after : undefined;
  if (!old && !next) return 0;
  const oldUnits = old ? writeUnits(projectedSize(table, index, old)) : 0;
  const newUnits = next ? writeUnits(projectedSize(table, index, next)) : 0;
  if (!old || !next) return oldUnits + newUnits;
  const moved = attributesOfKey(index.keys).some(({ name }) => !sameAttribute(name, old, next));
  if (moved) return oldUnits + newUnits;
  return sameProjection(table, index, old, next) ? 0 : Math.max(oldUnits, newUnits);
}

const isIn = (index: Index, { item }: Image): boolean =>
  attributesOfKey(index.keys).every(({ name }) => item[name] !== undefined);

function sameAttribute(name: string, a: Image, b: Image): boolean {
  const x = a.item[name];
  const y = b.item[name];
  return x === y || (x !== undefined && y !== undefined && equalValues(x, y));
}

function sameProjection(table: Table, index: Index, a: Image, b: Image): boolean {
  const names = projectedNames(table, index) ?? new Set([...Object.keys(a.item), ...Object.keys(b.item)]);
  for (const name of names) if (!sameAttribute(name, a, b)) return false;
  return true;
}

export function addUsage(total: Usage, usage: Usage): Usage {
  total.table += usage.table;
  for (const [index, units] of usage.indexes)
    total.indexes.set(index, (total.indexes.get(index) ?? 0) + units);
  for (const [name, bytes] of usage.vectors ?? []) {
    total.vectors ??= new Map();
    total.vectors.set(name, (total.vectors.get(name) ?? 0) + bytes);
  }
  return total;
}

export const noUsage = (kind: Usage['kind']): Usage => ({ kind, table: 0, indexes: new Map() });

// Transactions cost twice, on the table only; they also say which kind of unit was used.
export const doubled = (usage: Usage): Usage => ({ ...usage, table: usage.table * 2 });

export function consumedCapacity(
  mode: CapacityMode,
  tableName: string,
  usage: Usage,
  transactional = false,
): ConsumedCapacity | undefined {
  if (mode !== 'TOTAL' && mode !== 'INDEXES') return undefined;
  const units = (amount: number): Units => ({
    CapacityUnits: amount,
    ...(transactional &&
      (usage.kind === 'read' ? { ReadCapacityUnits: amount } : { WriteCapacityUnits: amount })),
  });
  let total = usage.table;
  for (const amount of usage.indexes.values()) total += amount;
  const out: ConsumedCapacity = { TableName: tableName, ...units(total) };
  if (mode === 'TOTAL') return out;
  out.Table = units(usage.table);
  for (const [index, amount] of usage.indexes) {
    const kind = index.kind === 'local' ? 'LocalSecondaryIndexes' : 'GlobalSecondaryIndexes';
    const group = out[kind] ?? {};
    group[index.name] = units(amount);
    out[kind] = group;
  }
  if (usage.vectors) {
    out.VectorIndexes = Object.fromEntries(
      [...usage.vectors].map(([name, bytes]) => [name, { VectorWriteRequestBytes: bytes }]),
    );
  }
  return out;
}
