import { createEngine, type Engine, type Item } from '@stak/engine';
import type { BenchOptions } from '../bench.ts';
import { inDataFolder } from '../data-folder.ts';
import { judge, type Verdict } from '../gates.ts';
import { formatRate, textTable } from '../table.ts';
import { createVectorsOf, type Data } from './data.ts';

// Searches of a vector index beside comparing all vectors one by one: how many of the ten nearest are found, and how
// long it takes, on the thread that serves. Vectors are written by BatchWriteItem, and searched by SearchVectors once
// the index is at rest; `processor` is their processor time, which other programs on the machine hardly change.
// hnswlib-node and usearch are not here: both are built or fetched by a script when installed.

const dimensions = 768;
const nearest = 10;
const asked = 300;
const batchSize = 25;
const batchesTogether = 8;
const partNames: readonly Data[] = ['clustered', 'uniform'];

type Result = {
  data: Data;
  count: number;
  writesPerSecond: number;
  restSeconds: number;
  recall: number;
  p50Ms: number;
  p99Ms: number;
  processorMs: number;
  bruteMs: number;
  memoryMb: number;
};

export async function run({ quick, only }: BenchOptions): Promise<Verdict[]> {
  const count = quick ? 20_000 : 100_000;
  const results: Result[] = [];
  for (const data of partNames)
    if (only.length === 0 || only.includes(data))
      results.push(await inDataFolder('vectors', folder => measure(folder, data, count)));
  console.log(`\n${textTable([header, ...results.map(rowOf)])}`);
  const clustered = results.find(({ data }) => data === 'clustered');
  return [
    judge({
      name: `recall of the ${nearest} nearest among ${count} clustered vectors`,
      measured: clustered && clustered.recall * 100,
      bound: 'at least',
      limit: 95,
      unit: '%',
      required: only.length === 0,
    }),
    judge({
      name: `half of the searches of ${count} clustered vectors`,
      measured: clustered?.p50Ms,
      bound: 'at most',
      limit: 5,
      unit: 'ms',
      required: only.length === 0,
    }),
  ];
}

const header = [
  `${dimensions} dimensions`,
  'vectors',
  'written a second',
  'at rest after',
  'recall at 10',
  'p50',
  'p99',
  'processor',
  'one by one',
  'memory',
];

const rowOf = (result: Result): string[] => [
  result.data,
  formatRate(result.count),
  formatRate(result.writesPerSecond),
  `${result.restSeconds.toFixed(1)} s`,
  `${(result.recall * 100).toFixed(1)} %`,
  `${result.p50Ms.toFixed(2)} ms`,
  `${result.p99Ms.toFixed(2)} ms`,
  `${result.processorMs.toFixed(2)} ms`,
  `${result.bruteMs.toFixed(1)} ms`,
  `${result.memoryMb.toFixed(0)} MB`,
];

async function measure(folder: string, data: Data, count: number): Promise<Result> {
  const next = createVectorsOf(data, dimensions);
  const engine = await createEngine({ path: folder });
  try {
    await createTable(engine);
    const stored: Float32Array[] = [];
    const startedMs = performance.now();
    while (stored.length < count) {
      const written: Promise<object>[] = [];
      for (let batch = 0; batch < batchesTogether; batch++) {
        const requests = Array.from({ length: batchSize }, () => {
          stored.push(next());
          return { PutRequest: { Item: itemOf(stored.length - 1, stored.at(-1)!) } };
        });
        written.push(engine.execute('BatchWriteItem', { RequestItems: { notes: requests } }));
      }
      await Promise.all(written);
    }
    const writtenMs = performance.now();
    await engine.settled();
    const restMs = performance.now();
    const memoryBytes = process.memoryUsage().rss - stored.length * dimensions * 4;
    const queries = Array.from({ length: asked }, next);
    for (const query of queries) await search(engine, vectorOf(query));
    const timesMs: number[] = [];
    const rows: string[][] = [];
    const vectors = queries.map(vectorOf);
    const processor = process.cpuUsage();
    for (const vector of vectors) {
      const startMs = performance.now();
      const { SearchResults } = await search(engine, vector);
      timesMs.push(performance.now() - startMs);
      rows.push(SearchResults.map(({ Item }) => (Item.pk as { S: string }).S));
    }
    const { user, system } = process.cpuUsage(processor);
    const bruteStartMs = performance.now();
    const right = queries.map(query => nearestOf(stored, query));
    const bruteMs = (performance.now() - bruteStartMs) / asked;
    const hits = right.reduce((sum, keys, i) => sum + keys.filter(key => rows[i]!.includes(key)).length, 0);
    timesMs.sort((a, b) => a - b);
    return {
      data,
      count,
      writesPerSecond: (1000 * count) / (writtenMs - startedMs),
      restSeconds: (restMs - writtenMs) / 1000,
      recall: hits / (asked * nearest),
      p50Ms: timesMs[Math.floor(asked / 2)]!,
      p99Ms: timesMs[Math.floor(asked * 0.99)]!,
      processorMs: (user + system) / 1000 / asked,
      bruteMs,
      memoryMb: memoryBytes / 1_000_000,
    };
  } finally {
    await engine.close();
  }
}

const createTable = (engine: Engine) =>
  engine.execute('CreateTable', {
    TableName: 'notes',
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
    VectorIndexes: [
      {
        IndexName: 'byMeaning',
        VectorAttribute: { AttributeName: 'embedding' },
        Dimensions: dimensions,
        DistanceFunction: 'COSINE',
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  });

const keyOf = (i: number): string => `note-${String(i).padStart(6, '0')}`;
const vectorOf = (vector: Float32Array) => Array.from(vector, value => ({ N: shortest(value) }));

// A float of 32 bits with the digits that were made, in plain notation.
const shortest = (value: number): string => value.toFixed(7);

const itemOf = (i: number, vector: Float32Array): Item => ({
  pk: { S: keyOf(i) },
  title: { S: `The title of note ${i}` },
  embedding: { L: vectorOf(vector) },
});

type Answer = { SearchResults: { Item: Item; Score: number }[] };

const search = (engine: Engine, vector: object[]): Promise<Answer> =>
  engine.execute('SearchVectors', {
    TableName: 'notes',
    IndexName: 'byMeaning',
    SearchVector: vector,
    TopK: nearest,
  }) as Promise<Answer>;

// The vectors have a length of one, so the largest product is the smallest angle.
function nearestOf(stored: readonly Float32Array[], query: Float32Array): string[] {
  const best: { product: number; i: number }[] = [];
  for (let i = 0; i < stored.length; i++) {
    const vector = stored[i]!;
    let product = 0;
    for (let at = 0; at < vector.length; at++) product += vector[at]! * query[at]!;
    if (best.length === nearest && product <= best[nearest - 1]!.product) continue;
    best.push({ product, i });
    best.sort((a, b) => b.product - a.product);
    best.length = Math.min(best.length, nearest);
  }
  return best.map(({ i }) => keyOf(i));
}
