import type { Clock, Ids, Random } from '@stak/kit';
import { failedStep, type Store, write } from '@stak/table';
import { type Counted, emptyTally, recount } from './counts.ts';
import { tasksErrors } from './errors.ts';
import { decideExpiry } from './expiry.ts';
import type { Lanes } from './lanes.ts';
import * as limits from './limits.ts';
import { tenantOf } from './owner.ts';
import { countedIn, idOf, type NamedSteps, type Shift, stepsOf } from './shift.ts';
import { change, member, type Tally, tally } from './table.ts';

// `onReminder` is told that there may be a new one, so that its worker in this process need not wait.
export type Writing = {
  store: Store;
  clock: Clock;
  ids: Ids;
  random: Random;
  lanes: Lanes;
  onReminder?(): void;
  // Stores who the tasks are of, if that is not done yet. False if it has to be tried again.
  ensureUser?(user_id: string): Promise<boolean>;
};

// What an operation sees when it decides. Whatever it reads after this was read no earlier than the tally, so if it
// is outdated the tally is, too, and the write is refused.
export type View = { readonly tally: Tally; readonly nowS: number };
export type Decision<T> = {
  readonly answer: T;
  readonly shifts?: readonly Shift[];
  readonly steps?: NamedSteps;
  // Tasks that are gone by themselves.
  readonly lost?: readonly (Counted & { task_id: string })[];
  readonly settings?: Partial<Pick<Tally, 'time_zone' | 'retention_days' | 'next_expiry'>>;
};

export const readTally = (
  { store }: Pick<Writing, 'store'>,
  user_id: string,
  consistent = true,
): Promise<Tally | undefined> => store.get(tally, { user_id }, { consistent, pattern: 'tally' });

export const secondsOf = (clock: Clock): number => Math.floor(clock.now() / 1000);

export const isExpiryDue = ({ next_expiry }: Pick<Tally, 'next_expiry'>, nowS: number): boolean =>
  next_expiry !== undefined && next_expiry <= nowS;

// Every write of a user's tasks: the tasks, the tally and the change go in one transaction that takes the next number
// of the user's changes. One that was overtaken decides again.
export function commit<T>(
  deps: Writing,
  user_id: string,
  pattern: string,
  decide: (view: View) => Promise<Decision<T>> | Decision<T>,
): Promise<T> {
  return deps.lanes.run(user_id, async () => {
    for (let failures = 0; failures < limits.commitAttempts; ) {
      const known = await readTally(deps, user_id);
      const view = { tally: known ?? emptyTally(user_id, deps.ids.next()), nowS: secondsOf(deps.clock) };
      const isHousekeeping = isExpiryDue(view.tally, view.nowS);
      const decision = isHousekeeping ? await decideExpiry(deps, view) : await decide(view);
      const has_user = view.tally.has_user ?? (await storesUser(deps, user_id, decision));
      const isWritten = await writeDecision(deps, view, known, pattern, decision, has_user);
      if (isWritten && !isHousekeeping) return decision.answer as T;
      if (!isWritten) await pause(deps, failures++);
    }
    throw tasksErrors.create('tasks.busy', 'Too many changes at once; try again.', { retryAfterS: 1 });
  });
}

// With the first write of a user there is an item that says who that is: the write's own, or another one.
const storesUser = async (
  { ensureUser }: Writing,
  user_id: string,
  { steps = [] }: Decision<unknown>,
): Promise<true | undefined> =>
  steps.some(([name]) => name === 'user') || (await ensureUser?.(user_id)) ? true : undefined;

// False if another write was faster.
async function writeDecision(
  deps: Writing,
  view: View,
  known: Tally | undefined,
  pattern: string,
  decision: Decision<unknown>,
  has_user: true | undefined,
): Promise<boolean> {
  const { shifts = [], steps = [], settings } = decision;
  if (shifts.length === 0 && steps.length === 0 && !settings) return true;
  const all = [
    ...shifts.flatMap(shift => stepsOf(shift, view.nowS)),
    ...steps,
    ...bookkeeping(view, known, decision, has_user),
  ];
  try {
    await deps.store.transact(all, { pattern });
  } catch (error) {
    if (isOvertaken(error)) return false;
    throw error;
  }
  if (shifts.some(({ after }) => after?.remind_at !== undefined)) deps.onReminder?.();
  return true;
}

// What is refused for itself would be refused again.
function isOvertaken(error: unknown): boolean {
  const failed = failedStep(error);
  return failed !== undefined && failed.reason !== 'refused';
}

function bookkeeping(
  { tally: before, nowS }: View,
  known: Tally | undefined,
  { shifts = [], lost = [], settings }: Decision<unknown>,
  has_user: true | undefined,
): NamedSteps {
  const { user_id, epoch } = before;
  const [gone, come] = countedIn(shifts);
  const seq = before.seq + 1;
  const next = present({
    ...before,
    ...settings,
    ...recount(before, [...lost, ...gone], come),
    has_user,
    seq,
    next_expiry: earliest({ ...before, ...settings }, shifts),
  });
  const entry = {
    user_id,
    seq,
    task_ids: [...lost.map(one => one.task_id), ...shifts.map(idOf)],
    changed_at: nowS,
    ttl: nowS + limits.changeS,
  };
  const guard = known ? { if: { seq: before.seq, epoch } } : { ifAbsent: true };
  const tenant_id = known ? undefined : tenantOf(user_id);
  return [
    ['tally', write.put(tally, next, guard)],
    // Erasing a user leaves room for the same number in a new history.
    ['change', write.put(change, entry)],
    ...(tenant_id === undefined
      ? []
      : ([['member', write.put(member, { tenant_id, user_id })]] satisfies NamedSteps)),
  ];
}

function earliest({ next_expiry }: Tally, shifts: readonly Shift[]): number | undefined {
  const moments = [next_expiry, ...shifts.map(shift => shift.after?.ttl)].filter(one => one !== undefined);
  return moments.length === 0 ? undefined : Math.min(...moments);
}

// What is undefined is not there, in the table as in its type.
const present = <T extends object>(item: T): T =>
  Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) as T;

const pause = ({ clock, random }: Writing, failures: number): Promise<void> =>
  clock.sleep(random() * Math.min(limits.commitMostMs, limits.commitFirstMs * 2 ** failures));
