import { getHeapStatistics } from 'node:v8';
import { createKeyedLock, createRecentMap, createSemaphore, yieldToEventLoop } from '@stak/kit';
import type { CommitDeps } from '../edit/commit.ts';
import { isForeign } from '../edit/foreign.ts';
import { tasksErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { readTasks } from '../queries/access-patterns.ts';
import type { Task } from '../schema.ts';
import { currentTally, readEntries } from '../sync/changes.ts';
import { allTasks, type Tally } from '../tables.ts';
import { createIndexCache, type SearchBudget } from './index-cache.ts';
import { createSearchIndex, type SearchIndex, type SearchMatch } from './search-index.ts';
import { scanTasks } from './search-scan.ts';
import { charsOf } from './word-index.ts';

// The user whose tasks are searched, and the account whose memory that takes: a tenant's users share that of its
// account.
export type Searcher = { readonly userId: string; readonly accountId: string };

export type Search = {
  // The best matches first, including everything written before the call.
  find(searcher: Searcher, query: string): Promise<SearchMatch[]>;
  // Called by the stream when a user's tasks have changed.
  refresh(userId: string): Promise<void>;
  // Includes an index that is being built.
  forget(userId: string): Promise<void>;
  users(): number;
  bytes(): number;
};

function budgetOfProcess(): SearchBudget {
  const bytes = Math.min(limits.searchBytes, getHeapStatistics().heap_size_limit * limits.searchHeapShare);
  return { bytes, accountBytes: bytes * limits.searchAccountShare };
}

// Full-text indexes of the users who searched last. An index is built from the table on the first search, and then
// follows the user's changes by their numbers. Changes may arrive late, twice or not at all: it always catches up with
// the table. Where an index does not fit into the memory of its account, the tasks are read for each search.
export function createSearch(deps: CommitDeps, budget: SearchBudget = budgetOfProcess()): Search {
  const cache = createIndexCache(budget);
  const unindexedUntilMs = createRecentMap<string, number>(limits.searchUnindexedUsers);
  const users = createKeyedLock();
  const accounts = createKeyedLock();
  const readers = createSemaphore(limits.searchReaders);
  // Reading all tasks takes memory that is not kept, so it is limited too. An account waits for itself first, so many
  // of its requests are one among those of other accounts.
  const readAll = <T>({ accountId }: Searcher, work: () => Promise<T>) =>
    accounts.run([accountId], () => readers.run(work));

  async function caughtUp({ userId, accountId }: Searcher, tally: Tally): Promise<SearchIndex | undefined> {
    const index = cache.get(userId);
    if (!index) return undefined;
    const isSame = index.epoch === tally.epoch && index.seq <= tally.seq;
    const isCurrent = isSame && (await catchUp(deps, userId, index, tally, budget.accountBytes));
    if (isCurrent && !index.isWorn() && cache.keep(userId, accountId, index)) return index;
    cache.remove(userId);
    return undefined;
  }

  async function built(searcher: Searcher, tally: Tally): Promise<SearchIndex | undefined> {
    const { userId, accountId } = searcher;
    if ((unindexedUntilMs.get(userId) ?? 0) > deps.clock.now()) return undefined;
    const index = await readAll(searcher, () => build(deps, userId, tally, budget.accountBytes));
    if (!index || !cache.keep(userId, accountId, index))
      unindexedUntilMs.set(userId, deps.clock.now() + limits.searchUnindexedMs);
    return index;
  }

  return {
    find: (searcher, query) =>
      users.run([searcher.userId], async () => {
        const tally = await currentTally(deps, searcher.userId);
        const index = (await caughtUp(searcher, tally)) ?? (await built(searcher, tally));
        return index
          ? index.find(query)
          : readAll(searcher, () => scanTasks(tasksOf(deps, searcher.userId), query));
      }),
    async refresh(userId) {
      if (cache.accountOf(userId) === undefined) return;
      await users.run([userId], async () => {
        const accountId = cache.accountOf(userId);
        if (accountId !== undefined) await caughtUp({ userId, accountId }, await currentTally(deps, userId));
      });
    },
    forget: userId => users.run([userId], async () => cache.remove(userId)),
    users: cache.users,
    bytes: cache.bytes,
  };
}

async function* tasksOf({ store }: CommitDeps, user_id: string): AsyncGenerator<Task> {
  const pause = pauseAfter();
  for await (const one of store.all(allTasks, { user_id }, { consistent: true })) {
    const task = one as Task;
    if (isForeign(task)) continue; // it is found once it is adopted
    yield task;
    await pause(task);
  }
}

// Undefined if it would take more than so many bytes.
async function build(
  deps: CommitDeps,
  user_id: string,
  tally: Tally,
  mostBytes: number,
): Promise<SearchIndex | undefined> {
  const index = createSearchIndex(tally.epoch, tally.seq);
  for await (const task of tasksOf(deps, user_id)) {
    index.put(task);
    if (index.bytes() > mostBytes) return undefined;
  }
  return index;
}

// Lets other work run after so many tasks, or so much text.
function pauseAfter(): (task: Task) => Promise<void> {
  let tasks = 0;
  let chars = 0;
  return async task => {
    tasks += 1;
    chars += charsOf(task);
    if (tasks < limits.searchChunk && chars < limits.searchChunkChars) return;
    [tasks, chars] = [0, 0];
    await yieldToEventLoop();
  };
}

// False if changes that it needs have expired, or if it takes more than so many bytes.
async function catchUp(
  { store }: CommitDeps,
  user_id: string,
  index: SearchIndex,
  { seq }: Tally,
  mostBytes: number,
): Promise<boolean> {
  const pause = pauseAfter();
  try {
    while (index.seq < seq) {
      const entries = await readEntries(store, user_id, index.seq, seq);
      const ids = [...new Set(entries.flatMap(entry => entry.task_ids))];
      const found = await readTasks(store, user_id, ids, true);
      for (const id of ids) index.remove(id);
      for (const one of found) {
        index.put(one);
        if (index.bytes() > mostBytes) return false;
        await pause(one);
      }
      index.seq = entries.at(-1)!.seq;
    }
    return true;
  } catch (error) {
    if (tasksErrors.includes(error) && error.code === 'tasks.token_expired') return false;
    throw error;
  }
}

// The design's access pattern "search tasks by title/description".
export async function searchTasks(
  { store, search }: Pick<CommitDeps, 'store'> & { search: Search },
  searcher: Searcher,
  query: string,
  page: { limit: number; start: number },
): Promise<{ items: (Task & { score: number })[]; next?: number }> {
  const found = await search.find(searcher, query);
  const end = page.start + page.limit;
  const scores = new Map(found.slice(page.start, end).map(({ task_id, score }) => [task_id, score]));
  const tasks = await readTasks(store, searcher.userId, [...scores.keys()]);
  const items = tasks.map(task => ({ ...task, score: scores.get(task.task_id)! }));
  return { items, next: end < found.length ? end : undefined };
}
