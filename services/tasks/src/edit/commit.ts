import type { Clock, Ids, KeyedLock, Random } from '@stak/kit';
import {
  type ConflictRetry,
  conflict,
  done,
  failedStep,
  type NamedStep,
  progress,
  retryConflicts,
  type Store,
  write,
} from '@stak/table';
import { tasksErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { tenantOf } from '../owner.ts';
import { change, type Expiry, expiriesOfUser, expiry, member, type Tally, tally } from '../tables.ts';
import { createDraft } from './draft.ts';
import { type Counted, emptyTally, recount } from './tally.ts';
import { countedIn, idOf, stepsOf, type TaskChange } from './task-change.ts';

// `onReminder` is called when there may be a new reminder, so that the worker in this process need not wait.
export type CommitDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  random: Random;
  lock: KeyedLock;
  onReminder?(): void;
  // Stores the user's profile, if there is none yet. False if it has to be tried again.
  ensureUser?(user_id: string): Promise<boolean>;
};

// The state that an operation decides on. Everything it reads later is at least as new as the tally, so if it is
// outdated, the tally is too, and the write is refused.
export type View = { readonly tally: Tally; readonly nowS: number };
export type Decision<T> = {
  readonly answer: T;
  readonly taskChanges?: readonly TaskChange[];
  readonly steps?: NamedStep[];
  // Tasks that have expired.
  readonly lost?: readonly (Counted & { task_id: string })[];
  readonly settings?: Partial<
    Pick<Tally, 'time_zone' | 'retention_days' | 'next_expiry' | 'first_position' | 'last_position'>
  >;
};

export const readTally = (
  { store }: Pick<CommitDeps, 'store'>,
  user_id: string,
  consistent = true,
): Promise<Tally | undefined> => store.get(tally, { user_id }, { consistent, pattern: 'tally' });

export const secondsOf = (clock: Clock): number => Math.floor(clock.now() / 1000);

export const isExpiryDue = ({ next_expiry }: Pick<Tally, 'next_expiry'>, nowS: number): boolean =>
  next_expiry !== undefined && next_expiry <= nowS;

// Every write to a user's tasks. The tasks, the tally and the change are written in one transaction that takes the next
// number of the user's changes. After a conflict it decides again.
export function commit<T>(
  deps: CommitDeps,
  user_id: string,
  pattern: string,
  decide: (view: View) => Promise<Decision<T>> | Decision<T>,
): Promise<T> {
  return deps.lock.run([user_id], () =>
    retryConflicts<T>(retryOf(deps), async () => {
      const known = await readTally(deps, user_id);
      const view = { tally: known ?? emptyTally(user_id, deps.ids.next()), nowS: secondsOf(deps.clock) };
      const isHousekeeping = isExpiryDue(view.tally, view.nowS);
      const decision = isHousekeeping ? await decideExpiry(deps, view) : await decide(view);
      const has_user = view.tally.has_user ?? (await storesUser(deps, user_id, decision));
      if (!(await writeDecision(deps, view, known, pattern, decision, has_user))) return conflict;
      return isHousekeeping ? progress : done(decision.answer as T);
    }),
  );
}

const retryOf = ({ clock, random }: CommitDeps): ConflictRetry => ({
  clock,
  random,
  attempts: limits.commitAttempts,
  firstMs: limits.commitFirstMs,
  mostMs: limits.commitMostMs,
  busy: () => tasksErrors.create('tasks.busy', 'Too many concurrent changes. Try again.', { retryAfterS: 1 }),
});

// The first write of a user stores their profile: as one of its own steps, or separately.
const storesUser = async (
  { ensureUser }: CommitDeps,
  user_id: string,
  { steps = [] }: Decision<unknown>,
): Promise<true | undefined> =>
  steps.some(([name]) => name === 'user') || (await ensureUser?.(user_id)) ? true : undefined;

// False after a conflict.
async function writeDecision(
  deps: CommitDeps,
  view: View,
  known: Tally | undefined,
  pattern: string,
  decision: Decision<unknown>,
  has_user: true | undefined,
): Promise<boolean> {
  const { taskChanges = [], steps = [], settings } = decision;
  if (taskChanges.length === 0 && steps.length === 0 && !settings) return true;
  const all = [
    ...taskChanges.flatMap(taskChange => stepsOf(taskChange, view.nowS)),
    ...steps,
    ...bookkeeping(view, known, decision, has_user),
  ];
  try {
    await deps.store.transact(all, { pattern });
  } catch (error) {
    if (isOvertaken(error)) return false;
    throw error;
  }
  if (taskChanges.some(({ after }) => after?.remind_at !== undefined)) deps.onReminder?.();
  return true;
}

// A step that was refused for another reason would be refused again.
function isOvertaken(error: unknown): boolean {
  const failed = failedStep(error);
  return failed !== undefined && failed.reason !== 'refused';
}

function bookkeeping(
  { tally: before, nowS }: View,
  known: Tally | undefined,
  { taskChanges = [], lost = [], settings }: Decision<unknown>,
  has_user: true | undefined,
): NamedStep[] {
  const { user_id, epoch } = before;
  const [gone, come] = countedIn(taskChanges);
  const seq = before.seq + 1;
  const next = present({
    ...before,
    ...settings,
    ...recount(before, [...lost, ...gone], come),
    has_user,
    seq,
    next_expiry: earliest({ ...before, ...settings }, taskChanges),
    ...widened({ ...before, ...settings }, taskChanges),
  });
  const entry = {
    user_id,
    seq,
    task_ids: [...lost.map(one => one.task_id), ...taskChanges.map(idOf)],
    changed_at: nowS,
    ttl: nowS + limits.changeS,
  };
  const guard = known ? { if: { seq: before.seq, epoch } } : { ifAbsent: true };
  const tenant_id = known ? undefined : tenantOf(user_id);
  return [
    ['tally', write.put(tally, next, guard)],
    // Unconditional: after a user was erased, a new history may reuse the number.
    ['change', write.put(change, entry)],
    ...(tenant_id === undefined
      ? []
      : ([['member', write.put(member, { tenant_id, user_id })]] satisfies NamedStep[])),
  ];
}

function earliest({ next_expiry }: Tally, taskChanges: readonly TaskChange[]): number | undefined {
  const moments = [next_expiry, ...taskChanges.map(taskChange => taskChange.after?.ttl)].filter(
    one => one !== undefined,
  );
  return moments.length === 0 ? undefined : Math.min(...moments);
}

// The ends of the user's order, with the positions that are written. Unknown ends stay unknown.
function widened({ first_position, last_position, total }: Tally, taskChanges: readonly TaskChange[]) {
  const written = taskChanges.flatMap(taskChange => taskChange.after?.position ?? []);
  if (written.length === 0 || (first_position === undefined && total > 0)) return {};
  const positions = [...written, first_position, last_position].filter(one => one !== undefined).toSorted();
  return { first_position: positions[0], last_position: positions.at(-1) };
}

// Leaves out attributes that are undefined.
function present<T extends object>(item: T): T {
  const copy = {} as T;
  for (const name in item) if (item[name] !== undefined) copy[name] = item[name];
  return copy;
}

// Readers stop seeing an expired task at that second, whenever DynamoDB removes it. The tally is corrected before it is
// next read or written: it knows when the next task expires, and an item of its own says what to subtract.
async function decideExpiry(deps: { store: Store }, view: View): Promise<Decision<undefined>> {
  const { user_id } = view.tally;
  const { items } = await deps.store.query(expiriesOfUser, { user_id }, { limit: limits.expiryBatch + 1 });
  const due = takeDue(items, view.nowS);
  const gone = new Set(due.map(one => one.task_id));
  const draft = createDraft(deps, view);
  // The subtasks of an expired task stay, and so does its parent.
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
    taskChanges: draft.taskChanges(),
    steps: due.map((one): NamedStep => [`expired ${one.task_id}`, write.delete(expiry, one)]),
    lost: due.map(one => ({ ...one, status: 'completed' })),
    settings: { next_expiry: items[due.length]?.expires_at },
  };
}

// A parent or subtask may need new expiry times as well: the task, and an expiry item deleted and added.
const stepsForRelative = 3;

// As many as fit into a transaction with their parents and subtasks.
function takeDue(items: readonly Expiry[], nowS: number): Expiry[] {
  const due: Expiry[] = [];
  let steps = 0;
  for (const item of items.slice(0, limits.expiryBatch)) {
    const relatives = (item.subtask_ids?.length ?? 0) + (item.parent_id === undefined ? 0 : 1);
    steps += 1 + stepsForRelative * relatives;
    if (item.expires_at > nowS || (due.length > 0 && steps > limits.transactionSteps)) break;
    due.push(item);
  }
  return due;
}
