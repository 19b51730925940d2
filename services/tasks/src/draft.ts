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

type Entry = { before?: Task; after?: Task; fromTrash?: TrashedTask };

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

  const shiftOf = ({ before, after, fromTrash }: Entry): Shift[] => {
    if (before && after) {
      const same = { ...after, version: before.version, updated_at: before.updated_at };
      return isDeepStrictEqual(before, same)
        ? []
        : [{ before, after: { ...after, version: before.version + 1, updated_at: nowS } }];
    }
    if (before) return [{ before, toTrash: trashedOf(before, nowS) }];
    if (!after) return [];
    return fromTrash
      ? [{ after: { ...after, version: fromTrash.version + 1, updated_at: nowS }, fromTrash }]
      : [{ after }];
  };
  const peek = (taskId: string): Task | undefined => {
    const entry = entries.get(taskId) ?? {};
    return entry.after && (shiftOf(entry)[0]?.after ?? entry.after);
  };
  const shifts = () => [...entries.values()].flatMap(shiftOf);

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
      entries.set(task_id, { ...entries.get(task_id), after: undefined });
    },
    restore(fromTrash, restored) {
      entries.set(restored.task_id, { fromTrash, after: stamp(restored, tally, nowS) });
    },
    checkLimits: () => void recount(tally, ...countedIn(shifts())),
    countSteps: () => shifts().reduce((sum, shift) => sum + stepsOf(shift, nowS).length, 0),
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

const trashedOf = (before: Task, nowS: number): TrashedTask => ({
  ...before,
  deleted_at: nowS,
  ttl: nowS + limits.trashS,
});
