// The tables that random operations meet: every key type, with and without a range key, indexes of each kind.

export type KeyKind = 'S' | 'N' | 'B';
type IndexKind = { name: string; hash: string; range?: string };
export type TableKind = { name: string; pk: KeyKind; sk?: KeyKind; indexes: IndexKind[] };

// Attributes a, b and c are strings, numbers and strings wherever an index wants them.
const indexTypes: Record<string, KeyKind> = { a: 'S', b: 'N', c: 'S' };

const everyIndex: IndexKind[] = [
  { name: 'all', hash: 'a', range: 'b' },
  { name: 'keys', hash: 'b' },
  { name: 'some', hash: 'a', range: 'c' },
  { name: 'local', hash: 'pk', range: 'c' },
];

export const tableKinds: TableKind[] = [
  { name: 'strings', pk: 'S', sk: 'S', indexes: everyIndex },
  { name: 'numbers', pk: 'N', indexes: [] },
  { name: 'binary', pk: 'B', sk: 'N', indexes: [] },
  { name: 'mixed', pk: 'S', sk: 'B', indexes: everyIndex.slice(0, 1) },
];

const schema = (hash: string, range?: string) => [
  { AttributeName: hash, KeyType: 'HASH' },
  ...(range ? [{ AttributeName: range, KeyType: 'RANGE' }] : []),
];

const projections: Record<string, object> = {
  all: { ProjectionType: 'ALL' },
  keys: { ProjectionType: 'KEYS_ONLY' },
  some: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['d'] },
  local: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['b'] },
};

export function createTableInput(kind: TableKind, tableName: string): object {
  const types: Record<string, string> = { pk: kind.pk, ...(kind.sk && { sk: kind.sk }) };
  for (const { hash, range } of kind.indexes) {
    for (const name of [hash, range]) if (name && !types[name]) types[name] = indexTypes[name]!;
  }
  const describe = ({ name, hash, range }: IndexKind) => ({
    IndexName: name,
    KeySchema: schema(hash, range),
    Projection: projections[name],
  });
  const locals = kind.indexes.filter(({ hash }) => hash === 'pk');
  const globals = kind.indexes.filter(({ hash }) => hash !== 'pk');
  return {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: schema('pk', kind.sk && 'sk'),
    AttributeDefinitions: Object.entries(types).map(([name, type]) => ({
      AttributeName: name,
      AttributeType: type,
    })),
    ...(globals.length > 0 && { GlobalSecondaryIndexes: globals.map(describe) }),
    ...(locals.length > 0 && { LocalSecondaryIndexes: locals.map(describe) }),
  };
}
