import type { Store } from '../storage/store.ts';
import type { BlockRef } from './block-cache.ts';
import { blocksOf, cellOf, centroids, type PartitionState } from './state.ts';

// Which blocks a partition has. The list is read when its state has another version; a block that was in the last list
// stays where it is in memory.

export type Directory = {
  version: number;
  build: number;
  addition: number;
  flat: BlockRef[];
  centroids: BlockRef[];
  cells: Cells;
  added: Cells; // those of the addition
};

type Cells = Map<number, BlockRef[]>;

const mostDirectories = 1000;

export function createDirectories(store: Pick<Store, 'keys'>) {
  const known = new Map<string, Directory>();

  return function directoryOf(indexId: number, partition: Buffer, state: PartitionState): Directory {
    const name = `${indexId}/${partition.toString('latin1')}`;
    const last = known.get(name);
    if (last?.version === state.version) return last;
    const directory = list(indexId, partition, state, last);
    known.delete(name);
    known.set(name, directory);
    if (known.size > mostDirectories) known.delete(known.keys().next().value!);
    return directory;
  };

  function list(indexId: number, partition: Buffer, state: PartitionState, last?: Directory): Directory {
    const refsIn = (build: number, known: readonly BlockRef[]): BlockRef[] => {
      const refs = new Map(known.map(ref => [ref.key.toString('latin1'), ref]));
      const found: BlockRef[] = [];
      for (const { key } of store.keys(blocksOf(indexId, partition, build)))
        found.push(refs.get(key.toString('latin1')) ?? { key: Buffer.from(key), slot: -1 });
      return found;
    };
    const flat = refsIn(0, last?.flat ?? []);
    const { version, build, addition } = state;
    const cells = last?.build === build ? last.cells : cellsOf(build === 0 ? [] : refsIn(build, []));
    const added =
      last?.addition === addition ? last.added : cellsOf(addition === 0 ? [] : refsIn(addition, []));
    return { version, build, addition, flat, centroids: cells.get(centroids) ?? [], cells, added };
  }
}

function cellsOf(refs: readonly BlockRef[]): Cells {
  const cells: Cells = new Map();
  for (const ref of refs) {
    const cell = cellOf(ref.key);
    const others = cells.get(cell);
    if (others) others.push(ref);
    else cells.set(cell, [ref]);
  }
  return cells;
}
