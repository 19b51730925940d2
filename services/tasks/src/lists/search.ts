import { createKeyedLock, yieldToEventLoop } from '@stak/kit';
import type { CommitDeps } from '../edit/commit.ts';
import { tasksErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import type { Task } from '../schema.ts';
import { currentTally, readEntries } from '../sync/changes.ts';
import { allTasks, type Tally } from '../tables.ts';
import { readTasks } from './access-patterns.ts';
import { createSearchIndex, type Found, type SearchIndex } from './search-index.ts';

export type Search = {
  // The best matches first, including everything written before the call.
  find(userId: string, query: string): Promise<Found[]>;
  // Called by the stream when a user's tasks have changed.
  refresh(userId: string): Promise<void>;
  // Includes an index that is being built.
  forget(userId: string): Promise<void>;
  users(): number;
  chars(): number;
};

// Full-text indexes of the users who searched last. An index is built from the table on the first search, and then
// follows the user's changes by their numbers. Changes may arrive late, twice or not at all: it always catches up with
// the table.
export function createSearch(deps: CommitDeps, mostChars = limits.searchChars): Search {
  const indexes = new Map<string, SearchIndex>(); // the least recently used first
  const lock = createKeyedLock();

  async function current(user_id: string): Promise<SearchIndex> {
    const tally = await currentTally(deps, user_id);
    const known = indexes.get(user_id);
    const isSame = known?.epoch === tally.epoch && known.seq <= tally.seq;
    const index =
      (isSame && (await catchUp(deps, user_id, known, tally))) || (await build(deps, user_id, tally));
    indexes.delete(user_id);
    indexes.set(user_id, index);
    evict(user_id);
    return index;
  }

  function evict(keptId: string): void {
    let total = chars();
    for (const [user_id, index] of indexes) {
      if (total <= mostChars) return;
      if (user_id === keptId) continue;
      total -= index.chars();
      indexes.delete(user_id);
    }
  }

  const chars = () => [...indexes.values()].reduce((sum, index) => sum + index.chars(), 0);

  return {
    find: (userId, query) => lock.run([userId], async () => (await current(userId)).find(query)),
    async refresh(userId) {
      if (indexes.has(userId)) await lock.run([userId], () => current(userId));
    },
    forget: userId => lock.run([userId], async () => void indexes.delete(userId)),
    users: () => indexes.size,
    chars,
  };
}

async function build({ store }: CommitDeps, user_id: string, tally: Tally): Promise<SearchIndex> {
  const index = createSearchIndex(tally.epoch, tally.seq);
  const pause = pauseAfter(index);
  for await (const one of store.all(allTasks, { user_id }, { consistent: true })) {
    index.put(one as Task);
    await pause();
  }
  return index;
}

// Lets other work run after so many tasks, or so much text.
function pauseAfter(index: SearchIndex): () => Promise<void> {
  let tasks = 0;
  let chars = index.chars();
  return async () => {
    tasks += 1;
    if (tasks < limits.searchChunk && index.chars() - chars < limits.searchChunkChars) return;
    tasks = 0;
    chars = index.chars();
    await yieldToEventLoop();
  };
}

// Undefined if changes that it needs have expired.
async function catchUp(
  { store }: CommitDeps,
  user_id: string,
  index: SearchIndex,
  { seq }: Tally,
): Promise<SearchIndex | undefined> {
  const pause = pauseAfter(index);
  try {
    while (index.seq < seq) {
      const entries = await readEntries(store, user_id, index.seq, seq);
      const ids = [...new Set(entries.flatMap(entry => entry.task_ids))];
      const found = await readTasks(store, user_id, ids, true);
      for (const id of ids) index.remove(id);
      for (const one of found) {
        index.put(one);
        await pause();
      }
      index.seq = entries.at(-1)!.seq;
    }
    return index;
  } catch (error) {
    if (tasksErrors.includes(error) && error.code === 'tasks.token_expired') return undefined;
    throw error;
  }
}

// The design's access pattern "search tasks by title/description".
export async function searchTasks(
  { store, search }: Pick<CommitDeps, 'store'> & { search: Search },
  user_id: string,
  query: string,
  page: { limit: number; start: number },
): Promise<{ items: (Task & { score: number })[]; next?: number }> {
  const found = await search.find(user_id, query);
  const end = page.start + page.limit;
  const scores = new Map(found.slice(page.start, end).map(({ task_id, score }) => [task_id, score]));
  const tasks = await readTasks(store, user_id, [...scores.keys()]);
  const items = tasks.map(one => ({ ...one, score: scores.get(one.task_id)! }));
  return { items, next: end < found.length ? end : undefined };
}
