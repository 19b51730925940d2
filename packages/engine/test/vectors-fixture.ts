import type { AttributeValue, Item } from '../src/index.ts';
import { type call as Call, hashTable } from './engine-fixture.ts';

// Tables with vector indexes, and what is asked of them.

export const vectorValue = (...numbers: number[]): AttributeValue => ({
  L: numbers.map(number => ({ N: String(number) })),
});

export const searchVector = (...numbers: number[]) => numbers.map(number => ({ N: String(number) }));

export const vectorIndex = (more: object = {}) => ({
  IndexName: 'byMeaning',
  VectorAttribute: { AttributeName: 'embedding' },
  Dimensions: 3,
  DistanceFunction: 'COSINE',
  Projection: { ProjectionType: 'ALL' },
  ...more,
});

export const tenantAndCategory = [
  { AttributeName: 'tenant', SearchSchemaElementType: 'HASH' },
  { AttributeName: 'category', SearchSchemaElementType: 'INLINE_FILTER' },
];

export const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' });

export const vectorIndexes = [
  vectorIndex(),
  vectorIndex({ IndexName: 'ofTenant', SearchSchema: tenantAndCategory }),
];

/** An index of everything, `byMeaning`, and one with a search schema, `ofTenant`. */
export const vectorTable = (name = 'notes', more: object = {}) =>
  hashTable(name, {
    AttributeDefinitions: ['pk', 'tenant', 'category'].map(text),
    VectorIndexes: vectorIndexes,
    ...more,
  });

export const note = (pk: string, numbers: number[], more: Item = {}): Item => ({
  pk: { S: pk },
  embedding: vectorValue(...numbers),
  ...more,
});

type Engine = Parameters<typeof Call>[0];

export async function search(
  engine: Engine,
  numbers: readonly number[],
  more: object = {},
): Promise<{ pk: string; score: number }[]> {
  const { SearchResults } = (await engine.execute('SearchVectors', {
    TableName: 'notes',
    IndexName: 'byMeaning',
    SearchVector: searchVector(...numbers),
    TopK: 10,
    ...more,
  })) as { SearchResults: { Item: Item; Score: number }[] };
  return SearchResults.map(({ Item, Score }) => ({ pk: (Item.pk as { S: string }).S, score: Score }));
}
