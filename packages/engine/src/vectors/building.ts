import { randomInt } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Context } from '../context.ts';
import type { VectorPartition } from '../storage/committer.ts';
import type { VectorIndex } from '../storage/table.ts';
import { type Codes, checkBlock, codesAt, encodeBlock, type Shape, shapeOf, viewBlock } from './blocks.ts';
import { indexById } from './coding.ts';
import { kernelModule } from './kernel.ts';
import { vectorKey } from './records.ts';
import {
  type BuildKind,
  blockKey,
  blocksOf,
  buildOf,
  cellOf,
  centroids,
  type PartitionState,
  readState,
  saveState,
  sortedIn,
} from './state.ts';

// A build sorts the codes of a partition into cells, in a thread: all of them, or those that came since the last build of
// everything, into the cells of that one. Searches use the last one until it is done; what is written meanwhile gets codes
// in flat blocks. A build that is interrupted leaves blocks that the next one removes.

const sampledPerCell = 48;
const mostSampledBytes = 64 * 1024 * 1024;
const fewestCells = 16;
const mostCells = 1024;
const rounds = 8;
const blocksPerTransaction = 16;

type Renew = () => Promise<boolean>;

/** Returns whether a build replaced the last one. `renew` says whether this process may still build. */
export async function buildCells(
  context: Context,
  { tableId, indexId, partition }: VectorPartition,
  kind: BuildKind,
  signal: AbortSignal,
  renew: Renew,
): Promise<boolean> {
  const { store } = context;
  const find = () => indexById(context, tableId, indexId)?.index;
  const index = find();
  const last = readState(store, indexId, partition);
  if (!index || !last) return false;
  const isWanted = async () => !signal.aborted && find() !== undefined && (await renew());
  const isCurrent = (state: PartitionState | undefined): state is PartitionState =>
    state?.build === last.build && state.addition === last.addition;
  const inUse = [0, last.build, last.addition];
  await removeBuilds(context, index, partition, build => !inUse.includes(build), signal);
  const state = readState(store, indexId, partition);
  if (!isCurrent(state) || signal.aborted) return false;
  const shape = shapeOf(index);
  const isAddition = kind === 'addition';
  const replaced = [last.addition, ...(isAddition ? [] : [last.build])].filter(build => build !== 0);
  const sources = [0, ...replaced].flatMap(build => keysIn(context, index, partition, build));
  const known = isAddition ? centroidsIn(context, index, partition, last.build, shape) : undefined;
  if (isAddition && !known) return false;
  const cells =
    known?.reduce((sum, { numbers }) => sum + numbers.length, 0) ?? cellsFor(state.flat + sortedIn(state));
  const thread = startThread(shape, cells, signal);
  const writer = createWriter(context, find, { indexId, partition, shape });
  try {
    if (known) await thread.ask({ centroids: known });
    else {
      for (const key of sampleOf(sources, cells, shape)) {
        const block = readCodes(context, key, shape);
        if (!block || signal.aborted) return false;
        await thread.ask({ sample: { codes: block.codes, factors: block.factors } });
      }
      const means = (await thread.ask({ train: true })) as Means;
      for (const block of centroidBlocks(means, cells, index, shape)) writer.add(centroids, block);
    }
    for (const [i, key] of sources.entries()) {
      if (i % blocksPerTransaction === 0 && !(await isWanted())) return false;
      const block = readCodes(context, key, shape);
      if (!block) return false;
      const isLive = block.numbers.map(number =>
        store.has(vectorKey(indexId, { partition, number })) ? 1 : 0,
      );
      for (const full of (await thread.ask({ sort: { ...block, isLive } })) as Sorted[])
        writer.add(full.cell, full.codes);
      await writer.flush(blocksPerTransaction);
    }
    for (const rest of (await thread.ask({ finish: true })) as Sorted[]) writer.add(rest.cell, rest.codes);
    await writer.flush(1);
    if (!(await isWanted())) return false;
    const isReplaced = await context.submit(tx => {
      const now = readState(store, indexId, partition);
      const flat = sources.filter(key => buildOf(key) === 0);
      if (!find() || !isCurrent(now) || !writer.isWhole() || !flat.every(key => tx.has(key))) return false;
      for (const key of flat) tx.remove(key);
      saveState(tx, indexId, partition, {
        ...now,
        version: now.version + 1,
        flat: now.flat - state.flat,
        ...(isAddition
          ? { addition: writer.build, added: writer.sorted() }
          : { build: writer.build, sorted: writer.sorted(), addition: 0, added: 0 }),
      });
      return true;
    });
    if (isReplaced) await removeBuilds(context, index, partition, build => replaced.includes(build), signal);
    return isReplaced;
  } finally {
    await thread.stop();
  }
}

const cellsFor = (codes: number): number =>
  Math.max(fewestCells, Math.min(mostCells, Math.round(Math.sqrt(codes))));

type Means = Pick<Codes, 'codes' | 'factors' | 'offsets'>;
type Sorted = { cell: number; codes: Codes };

// Writes the blocks of one build, several in a transaction.
function createWriter(
  { store, submit }: Context,
  find: () => VectorIndex | undefined,
  { indexId, partition, shape }: { indexId: number; partition: Buffer; shape: Shape },
) {
  const build = randomInt(1, 2 ** 32 - 1);
  const waiting: { key: Buffer; bytes: Buffer }[] = [];
  let blocks = 0;
  let sorted = 0;
  return {
    build,
    add(cell: number, codes: Codes): void {
      const key = blockKey(indexId, partition, { build, cell, number: blocks });
      waiting.push({ key, bytes: encodeBlock(codes, shape) });
      blocks += 1;
      if (cell !== centroids) sorted += codes.numbers.length;
    },
    /** Writes what waits, while it is at least so many blocks. */
    async flush(fewest: number): Promise<void> {
      while (waiting.length >= fewest) {
        const some = waiting.splice(0, blocksPerTransaction);
        await submit(tx => {
          // Blocks of an index that was dropped meanwhile would stay for ever.
          if (find()) for (const { key, bytes } of some) tx.put(key, bytes);
        });
      }
    },
    isWhole: (): boolean => store.count(blocksOf(indexId, partition, build)) === blocks,
    sorted: () => sorted,
  };
}

function keysIn({ store }: Context, index: VectorIndex, partition: Buffer, build: number): Buffer[] {
  const keys: Buffer[] = [];
  for (const { key } of store.keys(blocksOf(index.id, partition, build)))
    if (cellOf(key) !== centroids) keys.push(Buffer.from(key));
  return keys;
}

// The blocks of centroids that a build found; undefined if they are not there any more.
function centroidsIn(
  context: Context,
  index: VectorIndex,
  partition: Buffer,
  build: number,
  shape: Shape,
): Codes[] | undefined {
  const keys: Buffer[] = [];
  for (const { key } of context.store.keys(blocksOf(index.id, partition, build)))
    if (cellOf(key) === centroids) keys.push(Buffer.from(key));
  const blocks = keys.flatMap(key => readCodes(context, key, shape) ?? []);
  return blocks.length > 0 && blocks.length === keys.length ? blocks : undefined;
}

async function removeBuilds(
  context: Context,
  index: VectorIndex,
  partition: Buffer,
  isOver: (build: number) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const keys: Buffer[] = [];
  for (const { key } of context.store.keys(blocksOf(index.id, partition)))
    if (isOver(buildOf(key))) keys.push(Buffer.from(key));
  while (keys.length > 0 && !signal.aborted) {
    const some = keys.splice(0, 256);
    await context.submit(tx => {
      for (const key of some) tx.remove(key);
    });
  }
}

// Every so many blocks, so that early and late vectors are in the sample.
function sampleOf(sources: readonly Buffer[], cells: number, { capacity, stride }: Shape): Buffer[] {
  const wanted = Math.min((sampledPerCell * cells) / capacity, mostSampledBytes / (capacity * stride));
  const every = Math.max(1, sources.length / Math.max(1, wanted));
  const sample: Buffer[] = [];
  for (let at = 0; at < sources.length; at += every) sample.push(sources[Math.floor(at)]!);
  return sample;
}

function readCodes({ store }: Context, key: Buffer, { filters, stride }: Shape): Codes | undefined {
  return store.get(key, (value, end) => {
    checkBlock(value, end);
    const bytes = new Uint8Array(end);
    bytes.set(value.subarray(0, end));
    const { numbers, factors, offsets, filters: digests } = viewBlock(bytes.buffer, 0, filters);
    const codes = new Int8Array(bytes.buffer, codesAt(numbers.length, filters), numbers.length * stride);
    return { numbers, factors, offsets, filters: digests, codes };
  });
}

function* centroidBlocks(
  { codes, factors, offsets }: Means,
  cells: number,
  { distance }: VectorIndex,
  { capacity, stride, filters }: Shape,
): Generator<Codes> {
  for (let from = 0; from < cells; from += capacity) {
    const to = Math.min(cells, from + capacity);
    yield {
      numbers: Float64Array.from({ length: to - from }, (_, i) => from + i),
      factors: factors.slice(from, to),
      // By DOT_PRODUCT the cell whose centroid has the largest product is the nearest.
      offsets: distance === 'DOT_PRODUCT' ? new Float32Array(to - from) : offsets.slice(from, to),
      filters: new Uint32Array((to - from) * filters),
      codes: codes.slice(from * stride, to * stride),
    };
  }
}

function startThread({ stride, filters, capacity }: Shape, cells: number, signal: AbortSignal) {
  const worker = new Worker(new URL('./vector-thread.mjs', import.meta.url), {
    name: 'vectors',
    execArgv: [],
    env: {},
    workerData: { kernel: kernelModule(), stride, filters, capacity, cells, rounds },
  });
  worker.unref();
  const stop = () => worker.terminate();
  signal.addEventListener('abort', stop, { once: true });
  let settle: { resolve(answer: unknown): void; reject(error: Error): void } | undefined;
  worker.on('message', answer => settle?.resolve(answer));
  worker.on('error', error => settle?.reject(error as Error));
  worker.on('exit', () => settle?.reject(new Error('the thread that sorts vectors ended')));
  return {
    ask: (message: object): Promise<unknown> =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        worker.postMessage(message);
      }),
    stop(): Promise<number> {
      signal.removeEventListener('abort', stop);
      return stop();
    },
  };
}
