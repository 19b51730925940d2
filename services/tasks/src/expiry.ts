import { type Store, write } from '@stak/table';
import type { Decision, View } from './commit.ts';
import { createDraft } from './draft.ts';
import * as limits from './limits.ts';
import type { NamedSteps } from './shift.ts';
import { type Expiry, expiriesOfUser, expiry } from './table.ts';

// Completed tasks whose time to live is over are gone for every reader at that second, whenever DynamoDB removes them.
// The tally follows before anybody looks at it or writes: it knows when the next one expires, and what it loses by it
// stands in an item of its own. Nothing waits for the removal.
export async function decideExpiry(deps: { store: Store }, view: View): Promise<Decision<undefined>> {
  const { user_id } = view.tally;
  const { items } = await deps.store.query(expiriesOfUser, { user_id }, { limit: limits.expiryBatch + 1 });
  const due = takeDue(items, view.nowS);
  const gone = new Set(due.map(one => one.task_id));
  const draft = createDraft(deps, view);
  // Subtasks outlive their task, and a task its subtasks.
  const relatives = due.flatMap(one => [
    ...(one.subtask_ids ?? []),
    ...(one.parent_id ? [one.parent_id] : []),
  ]);
  for (const task of await draft.find([...new Set(relatives)]))
    draft.put({
      ...task,
      parent_id: task.parent_id && gone.has(task.parent_id) ? undefined : task.parent_id,
      subtask_ids: task.subtask_ids?.filter(id => !gone.has(id)),
    });
  return {
    answer: undefined,
    shifts: draft.shifts(),
    steps: due.map((one): NamedSteps[number] => [`expired ${one.task_id}`, write.delete(expiry, one)]),
    lost: due.map(one => ({ ...one, status: 'completed' })),
    settings: { next_expiry: items[due.length]?.expires_at },
  };
}

// A relative whose user has chosen other days meanwhile gets those with this write: the task, and an expiry for another.
const stepsForRelative = 3;

// As many as fit into a transaction together with their relatives.
function takeDue(items: readonly Expiry[], nowS: number): Expiry[] {
  const due: Expiry[] = [];
  let steps = 0;
  for (const one of items.slice(0, limits.expiryBatch)) {
    const relatives = (one.subtask_ids?.length ?? 0) + (one.parent_id === undefined ? 0 : 1);
    steps += 1 + stepsForRelative * relatives;
    if (one.expires_at > nowS || (due.length > 0 && steps > limits.transactionSteps)) break;
    due.push(one);
  }
  return due;
}
