import { createEngine, type Item } from '@stak/engine';

// A table of notes with one vector index, written and searched as a client of the wire would.

const batchSize = 25;
const batchesTogether = 8;

type Note = { vector: Float32Array; tenant: string; category: string };

/** What is searched for: the nearest of all, of one tenant, or of one category. */
export type Question = { vector: Float32Array; count: number; tenant?: string; category?: string };

export async function openNotes(
  path: string,
  { dimensions, isPartitioned }: { dimensions: number; isPartitioned: boolean },
) {
  const engine = await createEngine({ path });
  const searched = isPartitioned
    ? { AttributeName: 'tenant', SearchSchemaElementType: 'HASH' }
    : { AttributeName: 'category', SearchSchemaElementType: 'INLINE_FILTER' };
  await engine.execute('CreateTable', {
    TableName: 'notes',
    AttributeDefinitions: ['pk', searched.AttributeName].map(AttributeName => ({
      AttributeName,
      AttributeType: 'S',
    })),
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
    VectorIndexes: [
      {
        IndexName: 'byMeaning',
        VectorAttribute: { AttributeName: 'embedding' },
        Dimensions: dimensions,
        DistanceFunction: 'COSINE',
        SearchSchema: [searched],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  });
  return {
    async write(count: number, noteOf: (i: number) => Note): Promise<void> {
      for (let i = 0; i < count; ) {
        const written: Promise<object>[] = [];
        for (let batch = 0; batch < batchesTogether && i < count; batch++) {
          const requests: object[] = [];
          while (requests.length < batchSize && i < count) {
            requests.push({ PutRequest: { Item: itemOf(i, noteOf(i)) } });
            i += 1;
          }
          written.push(engine.execute('BatchWriteItem', { RequestItems: { notes: requests } }));
        }
        await Promise.all(written);
        if (i % 10_000 === 0) console.log(`${i} of ${count} written`);
      }
    },
    settled: () => engine.settled(),
    prepare: ({ vector, count, tenant, category }: Question): object => {
      const value = tenant ?? category;
      return {
        TableName: 'notes',
        IndexName: 'byMeaning',
        SearchVector: wireVector(vector),
        TopK: count,
        ...(value !== undefined && {
          SearchConditionExpression: `${searched.AttributeName} = :value`,
          ExpressionAttributeValues: { ':value': { S: value } },
        }),
      };
    },
    /** The numbers of the notes that are found. */
    async search(question: object): Promise<number[]> {
      const { SearchResults } = (await engine.execute('SearchVectors', question)) as Answer;
      return SearchResults.map(({ Item: { pk } }) => Number((pk as { S: string }).S.slice(prefix.length)));
    },
    close: () => engine.close(),
  };
}

type Answer = { SearchResults: { Item: Item; Score: number }[] };

const prefix = 'note-';

// A float of 32 bits with the digits that were made, in plain notation.
const wireVector = (vector: Float32Array) => Array.from(vector, value => ({ N: value.toFixed(7) }));

const itemOf = (i: number, { vector, tenant, category }: Note): Item => ({
  pk: { S: `${prefix}${String(i).padStart(6, '0')}` },
  tenant: { S: tenant },
  category: { S: category },
  title: { S: `The title of note ${i}` },
  embedding: { L: wireVector(vector) },
});
