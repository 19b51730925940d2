import type { Tx } from '../storage/committer.ts';
import { metaKey } from '../storage/keys.ts';
import { encodeJson, readMeta, type Store } from '../storage/store.ts';

// Tables, indexes, streams and shards take their ids from one counter that only grows, so the remains of a dropped one
// never belong to a new one. `work` only computes, so it may still throw.
export function withIds<T>(store: Store, tx: Tx, work: (newId: () => number) => T): T {
  const newest = readMeta<number>(store, 'ids') ?? 0;
  let id = newest;
  const result = work(() => ++id);
  if (id !== newest) tx.put(metaKey('ids'), encodeJson(id));
  return result;
}
