import type { AnyTable, IndexDefinition, KeyNames } from './table.ts';

// A design as a CreateTable request.

type KeyElement = { AttributeName: string; KeyType: string };
type Projection = { ProjectionType: string; NonKeyAttributes?: readonly string[] };
export type GlobalIndex = { IndexName: string; KeySchema: KeyElement[]; Projection: Projection };
export type TableDescription = {
  TableStatus?: string;
  KeySchema: KeyElement[];
  GlobalSecondaryIndexes?: (GlobalIndex & { IndexStatus?: string })[];
  StreamSpecification?: { StreamEnabled?: boolean; StreamViewType?: string };
};

/** The CreateTable request of a design. The table and its indexes take `warmUnits` a second at once, if given. */
export function tableRequest(table: AnyTable, warmUnits?: number) {
  const warm = warmUnits !== undefined && {
    WarmThroughput: { ReadUnitsPerSecond: warmUnits, WriteUnitsPerSecond: warmUnits },
  };
  const indexes = globalIndexes(table).map(index => ({ ...index, ...warm }));
  return {
    TableName: table.name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...table.keyNames].map(name => ({ AttributeName: name, AttributeType: 'S' })),
    KeySchema: keySchema(table.keys),
    ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }),
    ...(table.stream && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: table.stream },
    }),
    ...warm,
  };
}

export const keySchema = ({ partition, sort }: KeyNames): KeyElement[] => [
  { AttributeName: partition, KeyType: 'HASH' },
  ...(sort === undefined ? [] : [{ AttributeName: sort, KeyType: 'RANGE' }]),
];

export const globalIndexes = (table: AnyTable): GlobalIndex[] =>
  Object.entries(table.indexes).map(([name, index]) => ({
    IndexName: name,
    KeySchema: keySchema(index),
    Projection: projection(table, index),
  }));

// Reads of an index need the kind and the expiry of an item, so every projection includes them.
function projection(table: AnyTable, { project = 'ALL' }: IndexDefinition): Projection {
  if (typeof project === 'string') return { ProjectionType: project };
  const needed = [...project];
  if (table.entities.some(entity => entity.kind !== undefined)) needed.push('kind');
  if (table.ttl !== undefined) needed.push(table.ttl);
  return { ProjectionType: 'INCLUDE', NonKeyAttributes: [...new Set(needed)] };
}

// Everything in which an existing table contradicts its design. Something missing is not a contradiction.
export function mismatches(table: AnyTable, described: TableDescription): string[] {
  const differences: string[] = [];
  const compare = (what: string, actual: string, designed: string) => {
    if (actual !== designed) differences.push(`${what} is ${actual}, designed as ${designed}`);
  };
  compare('its key', keyText(described.KeySchema), keyText(keySchema(table.keys)));
  const designed = new Map(globalIndexes(table).map(index => [index.IndexName, index]));
  for (const actual of described.GlobalSecondaryIndexes ?? []) {
    const index = designed.get(actual.IndexName);
    if (!index) continue;
    compare(`the key of ${actual.IndexName}`, keyText(actual.KeySchema), keyText(index.KeySchema));
    compare(
      `the projection of ${actual.IndexName}`,
      projectionText(actual.Projection),
      projectionText(index.Projection),
    );
  }
  const stream = described.StreamSpecification;
  if (stream?.StreamEnabled && table.stream)
    compare('its stream', stream.StreamViewType ?? 'unknown', table.stream);
  return differences;
}

const keyText = (elements: KeyElement[]): string =>
  [...elements]
    .sort((a, b) => a.KeyType.localeCompare(b.KeyType))
    .map(element => element.AttributeName)
    .join(', ');

const projectionText = ({ ProjectionType, NonKeyAttributes = [] }: Projection): string =>
  ProjectionType === 'INCLUDE' ? `INCLUDE ${[...NonKeyAttributes].sort().join(', ')}` : ProjectionType;
