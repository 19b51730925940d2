import { isDeepStrictEqual } from 'node:util';
import { ref, type Store } from '@stak/table';
import type { View } from './commit.ts';
import { recount } from './counts.ts';
import { taskNotFound } from './errors.ts';
import * as limits from './limits.ts';
import type { Task } from './schema.ts';
import { countedIn, type Shift, stepsOf } from './shift.ts';
import { stamp } from './stamp.ts';
import { type TrashedTask, task } from './table.ts';

// Tasks as they were read and as they shall be. An operation changes a draft as if it were alone; what comes out is
// one shift for each task, however often it was touched: a transaction may have an item only once.
export type Draft = {
  readonly view: View;
  read(taskId: string): Promise<Task>;
  find(taskIds: readonly string[]): Promise<Task[]>;
  put(task: Task): void;
  discard(task: Task): void;
  restore(from: TrashedTask, task: Task): void;
  shifts(): Shift[];
  countSteps(): number;
  // Throws if the user would have more than they may.
  checkLimits(): void;
  // As it is now, to come back to.
  mark(): () => void;
  // A task as it will be written; undefined for one that is not there or will not be.
  peek(taskId: string): Task | undefined;
  result(taskId: string): Task;
};

type Entry = {
  readonly before?: Task;
  readonly after?: Task;
  readonly discarded?: Task; // as it was by then
  readonly fromTrash?: TrashedTask;
};

export function createDraft({ store }: { store: Store }, view: View): Draft {
  const { tally, nowS } = view;
  const { user_id } = tally;
  let entries = new Map<string, Entry>();

  async function find(taskIds: readonly string[]): Promise<Task[]> {
    const unread = [...new Set(taskIds)].filter(id => !entries.has(id));
    const refs = unread.map(task_id => ref(task, { user_id, task_id }));
    const found =
      refs.length === 0 ? [] : await store.batchGet(refs, { consistent: true, pattern: 'tasks to write' });
    for (const [i, id] of unread.entries()) entries.set(id, { before: found[i], after: found[i] });
    return taskIds.flatMap(id => entries.get(id)?.after ?? []);
  }

  // An entry is replaced, never changed, so what follows from it stays the same.
  const known = new WeakMap<Entry, { shift?: Shift; steps: number }>();
  const effectOf = (entry: Entry) => {
    const found = known.get(entry);
    if (found) return found;
    const shift = shiftOf(entry, nowS);
    const effect = { shift, steps: shift ? stepsOf(shift, nowS).length : 0 };
    known.set(entry, effect);
    return effect;
  };
  const peek = (taskId: string): Task | undefined => {
    const entry = entries.get(taskId);
    return entry?.after && (effectOf(entry).shift?.after ?? entry.after);
  };
  const shifts = () => [...entries.values()].flatMap(entry => effectOf(entry).shift ?? []);

  return {
    view,
    find,
    shifts,
    async read(taskId) {
      const [found] = await find([taskId]);
      if (!found) throw taskNotFound();
      return found;
    },
    put(changed) {
      const entry = entries.get(changed.task_id) ?? {};
      entries.set(changed.task_id, { ...entry, after: stamp(changed, tally, nowS) });
    },
    discard({ task_id }) {
      const entry = entries.get(task_id);
      entries.set(task_id, { ...entry, after: undefined, discarded: entry?.after });
    },
    restore(fromTrash, restored) {
      entries.set(restored.task_id, { fromTrash, after: stamp(restored, tally, nowS) });
    },
    checkLimits: () => void recount(tally, ...countedIn(shifts())),
    countSteps: () => [...entries.values()].reduce((sum, entry) => sum + effectOf(entry).steps, 0),
    mark() {
      const marked = new Map(entries);
      return () => {
        entries = marked;
      };
    },
    peek,
    result(taskId) {
      const result = peek(taskId);
      if (!result) throw taskNotFound();
      return result;
    },
  };
}

function shiftOf({ before, after, discarded, fromTrash }: Entry, nowS: number): Shift | undefined {
  if (before && after) {
    const same = { ...after, version: before.version, updated_at: before.updated_at };
    if (isDeepStrictEqual(before, same)) return undefined;
    return { before, after: { ...after, version: before.version + 1, updated_at: nowS } };
  }
  if (before) return { before, toTrash: trashedOf(discarded ?? before, nowS) };
  if (!after || !fromTrash) return after && { after };
  return { after: { ...after, version: fromTrash.version + 1, updated_at: nowS }, fromTrash };
}

const trashedOf = (before: Task, nowS: number): TrashedTask => ({
  ...before,
  deleted_at: nowS,
  ttl: nowS + limits.trashS,
});
