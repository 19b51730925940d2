import type { BenchOptions } from '../bench.ts';
import { inDataFolder } from '../data-folder.ts';
import { judge, type Verdict } from '../gates.ts';
import { formatRate, textTable } from '../table.ts';
import { createVectorsOf, type Data, productOf } from './data.ts';
import { openNotes, type Question } from './notes.ts';

// Searches of a vector index beside comparing all vectors one by one: how many of the ten nearest are found, and how
// long it takes, on the thread that serves. Vectors are written by BatchWriteItem, and searched by SearchVectors once
// the index is at rest; `processor` is their processor time, which other programs on the machine hardly change.
// hnswlib-node and usearch are not here: both are built or fetched by a script when installed.

const dimensions = 768;
const nearest = 10;
const asked = 200;
const oneRareIn = 100;
const perTenant = 2000;

/** `tenants` are clustered vectors in an index with a partition key. */
type Part = Data | 'tenants';
const partNames: readonly Part[] = ['clustered', 'uniform', 'tenants'];

type Result = {
  name: string;
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
  for (const part of partNames)
    if (only.length === 0 || only.includes(part))
      results.push(...(await inDataFolder('vectors', folder => measure(folder, part, count))));
  console.log(`\n${textTable([header, ...results.map(rowOf)])}`);
  const clustered = results.find(({ name }) => name === 'clustered');
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

const rowOf = (one: Result): string[] => [
  one.name,
  formatRate(one.count),
  formatRate(one.writesPerSecond),
  `${one.restSeconds.toFixed(1)} s`,
  `${(one.recall * 100).toFixed(1)} %`,
  `${one.p50Ms.toFixed(2)} ms`,
  `${one.p99Ms.toFixed(2)} ms`,
  `${one.processorMs.toFixed(2)} ms`,
  `${one.bruteMs.toFixed(1)} ms`,
  `${one.memoryMb.toFixed(0)} MB`,
];

async function measure(folder: string, part: Part, count: number): Promise<Result[]> {
  const isPartitioned = part === 'tenants';
  const next = createVectorsOf(isPartitioned ? 'clustered' : part, dimensions);
  const tenants = Math.ceil(count / perTenant);
  const categoryOf = (i: number) => (i % oneRareIn === 0 ? 'rare' : 'usual');
  const tenantOf = (i: number) => `tenant-${i % tenants}`;
  const notes = await openNotes(folder, { dimensions, isPartitioned });
  try {
    const stored: Float32Array[] = [];
    const startedMs = performance.now();
    await notes.write(count, i => {
      stored.push(next());
      return { vector: stored[i]!, tenant: tenantOf(i), category: categoryOf(i) };
    });
    const writtenMs = performance.now();
    await notes.settled();
    const shared = {
      count,
      writesPerSecond: (1000 * count) / (writtenMs - startedMs),
      restSeconds: (performance.now() - writtenMs) / 1000,
    };
    console.log(`${part}: ${count} vectors are written, and the index is at rest`);
    const ask = (name: string, more: Omit<Question, 'vector' | 'count'>, isWanted: (i: number) => boolean) =>
      measureSearches(notes, { stored, next, name, more, isWanted }).then(found => ({ ...shared, ...found }));
    if (isPartitioned) return [await ask('tenants', { tenant: 'tenant-0' }, i => tenantOf(i) === 'tenant-0')];
    return [
      await ask(part, {}, () => true),
      await ask(`${part}, filtered`, { category: 'rare' }, i => categoryOf(i) === 'rare'),
    ];
  } finally {
    await notes.close();
  }
}

type Searches = {
  stored: readonly Float32Array[];
  next: () => Float32Array;
  name: string;
  more: Omit<Question, 'vector' | 'count'>;
  isWanted: (i: number) => boolean;
};

async function measureSearches(
  notes: Awaited<ReturnType<typeof openNotes>>,
  { stored, next, name, more, isWanted }: Searches,
): Promise<Omit<Result, 'count' | 'writesPerSecond' | 'restSeconds'>> {
  const queries = Array.from({ length: asked }, next);
  const questions = queries.map(vector => notes.prepare({ vector, count: nearest, ...more }));
  for (const question of questions) await notes.search(question);
  const timesMs: number[] = [];
  const found: number[][] = [];
  const processor = process.cpuUsage();
  for (const question of questions) {
    const startMs = performance.now();
    found.push(await notes.search(question));
    timesMs.push(performance.now() - startMs);
  }
  const { user, system } = process.cpuUsage(processor);
  const memoryBytes = process.memoryUsage().rss - stored.length * dimensions * 4;
  const bruteStartMs = performance.now();
  const right = queries.map(query => nearestOf(stored, query, isWanted));
  const bruteMs = (performance.now() - bruteStartMs) / asked;
  const hits = right.reduce((sum, all, i) => sum + all.filter(one => found[i]!.includes(one)).length, 0);
  timesMs.sort((a, b) => a - b);
  return {
    name,
    recall: hits / (asked * nearest),
    p50Ms: timesMs[Math.floor(asked / 2)]!,
    p99Ms: timesMs[Math.floor(asked * 0.99)]!,
    processorMs: (user + system) / 1000 / asked,
    bruteMs,
    memoryMb: memoryBytes / 1_000_000,
  };
}

// The vectors have a length of one, so the largest product is the smallest angle.
function nearestOf(
  stored: readonly Float32Array[],
  query: Float32Array,
  isWanted: (i: number) => boolean,
): number[] {
  const best: { product: number; i: number }[] = [];
  for (let i = 0; i < stored.length; i++) {
    if (!isWanted(i)) continue;
    const product = productOf(stored[i]!, query);
    if (best.length === nearest && product <= best[nearest - 1]!.product) continue;
    best.push({ product, i });
    best.sort((a, b) => b.product - a.product);
    best.length = Math.min(best.length, nearest);
  }
  return best.map(({ i }) => i);
}
