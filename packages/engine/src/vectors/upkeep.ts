import type { Context } from '../context.ts';
import type { VectorPartition } from '../storage/committer.ts';
import { createBlockCache } from './block-cache.ts';
import { buildCells } from './building.ts';
import { codeSome, indexById } from './coding.ts';
import { createDirectories } from './directory.ts';
import { type BuildKind, dueBuild, readCount, readState } from './state.ts';

// Keeps large partitions fast to search: gives codes to new vectors, and sorts codes into cells. A partition is looked
// at when a number of vectors was written, and when a search had to compare many one by one, so what a process left
// unfinished when it was killed is done when somebody searches or writes.

const leaseMs = 60_000;
const defaultCacheBytes = 128 * 1024 * 1024;

export type Vectors = ReturnType<typeof createVectors>;

export function createVectors(
  context: Context,
  {
    cacheBytes = defaultCacheBytes,
    claim,
    isReader,
  }: {
    cacheBytes?: number | undefined;
    claim(name: string, leaseMs: number): Promise<boolean>;
    isReader: boolean;
  },
) {
  const { store } = context;
  let cache: ReturnType<typeof createBlockCache> | undefined;
  const coding = new Map<string, VectorPartition>();
  const building = new Map<string, VectorPartition>();
  const nameOf = ({ indexId, partition }: VectorPartition) => `${indexId}/${partition.toString('hex')}`;

  function look(one: VectorPartition): void {
    if (isReader) return;
    coding.set(nameOf(one), one);
    context.background('code vectors', codeAll);
  }

  async function codeAll(signal: AbortSignal): Promise<void> {
    for (const [name, one] of coding) {
      coding.delete(name);
      let isMore = true;
      while (isMore && !signal.aborted) {
        isMore = await context.submit(tx => {
          const found = indexById(context, one.tableId, one.indexId);
          return found ? codeSome(context, tx, found.index, one.partition) : false;
        });
        if (dueOf(one)) startBuild(name, one);
      }
    }
  }

  function dueOf({ indexId, partition }: VectorPartition): BuildKind | undefined {
    const state = readState(store, indexId, partition);
    return state && dueBuild(state, readCount(store, indexId, partition).live);
  }

  function startBuild(name: string, one: VectorPartition): void {
    building.set(name, one);
    context.background('sort vectors', async signal => {
      for (const [key, next] of building) {
        building.delete(key);
        const renew = renewing(claim);
        while (!signal.aborted && (await renew())) {
          const kind = dueOf(next);
          if (!kind || !(await buildCells(context, next, kind, signal, renew))) break;
        }
      }
    });
  }

  return {
    directoryOf: createDirectories(store),
    cache: () => {
      cache ??= createBlockCache(store, cacheBytes);
      return cache;
    },
    look,
  };
}

// Asks for the claim again when a part of its time is over.
function renewing(claim: (name: string, leaseMs: number) => Promise<boolean>): () => Promise<boolean> {
  let claimedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() < claimedAt + leaseMs / 4) return true;
    claimedAt = performance.now();
    return claim('vectors', leaseMs);
  };
}
