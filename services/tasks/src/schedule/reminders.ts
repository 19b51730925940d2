import {
  backoffMs,
  type Clock,
  cutText,
  type Logger,
  type Notifier,
  type Owners,
  type Random,
  sharedPollMs,
  watchGone,
} from '@stak/kit';
import { isMalformed, isUnavailable, type Store, tableErrors } from '@stak/table';
import * as limits from '../limits.ts';
import { type Owner, ownerOf } from '../owner.ts';
import { isOpen, showTask, type Task, type WireTask } from '../schema.ts';
import { type Reminder, reminder, remindersDue, task } from '../tables.ts';

// Called at least once for each reminder: again when a worker dies or is late. The key is always the same, so the
// receiver can ignore repetitions.
export type Remind = (reminder: {
  key: string;
  user: Owner;
  user_id: string;
  task: WireTask;
  at: number; // when it was due, in milliseconds
  signal: AbortSignal;
}) => Promise<void>;

export type ReminderDeps = {
  store: Store;
  clock: Clock;
  log: Logger;
  owners: Owners;
  random: Random;
  added: Notifier; // notified when there may be a new reminder
  remind: Remind;
};

type ClaimedReminder = Reminder & { next_at: number };

const name = 'tasks reminders';

export const createReminderWorker = (deps: ReminderDeps) => ({
  name,
  async run(signal: AbortSignal) {
    const gone = watchGone(deps.owners, deps.added.notify);
    try {
      while (!signal.aborted) {
        await gone.check(() => releaseGone(deps));
        const nextMs = await fireDue(deps, signal);
        const mostMs = sharedPollMs(deps.owners, name, limits.reminderPollMs);
        await deps.added.wait(Math.min(mostMs, Math.max(0, nextMs - deps.clock.now())), signal);
      }
    } finally {
      gone.stop();
    }
  },
});

const shards = Array.from({ length: limits.reminderShards }, (_, shard) => shard);

// Makes the reminders of a dead process due at once, instead of when their leases end. The index does not contain the
// lease holders, so all reminders due within a lease are read.
async function releaseGone(deps: ReminderDeps): Promise<void> {
  const { store, clock, owners } = deps;
  const nowMs = clock.now();
  const range = { after: { next_at: nowMs }, to: { next_at: nowMs + limits.reminderLeaseMs } };
  for (const shard of shards)
    for await (const key of store.all(remindersDue, { shard }, range)) {
      const claimed = await store.get(reminder, key, { consistent: true });
      if (claimed?.owner === undefined || !(await owners.isGone(claimed.owner))) continue;
      await makeDue(deps, claimed, 'take over a reminder');
    }
}

// Ends a lease without counting an attempt: its process is gone, or is being stopped.
async function makeDue({ store, clock }: ReminderDeps, claimed: Reminder, pattern: string): Promise<void> {
  const change = { set: { next_at: clock.now() }, remove: ['owner'] as const };
  const options = { if: { ...fencedBy(claimed), owner: claimed.owner }, current: claimed, pattern };
  await ignoreLostLease(store.update(reminder, claimed, change, options));
}

// Sends the due reminders, and returns when the next one is due.
export async function fireDue(deps: ReminderDeps, signal: AbortSignal): Promise<number> {
  return Math.min(...(await Promise.all(shards.map(shard => fireShard(deps, shard, signal)))));
}

async function fireShard(deps: ReminderDeps, shard: number, signal: AbortSignal): Promise<number> {
  while (!signal.aborted) {
    const { items } = await deps.store.query(remindersDue, { shard }, { limit: limits.reminderBatch });
    const nowMs = deps.clock.now();
    const due = items.filter(item => (item.next_at ?? 0) <= nowMs) as ClaimedReminder[];
    const claimed = await Promise.all(due.map(one => handleSafely(deps, one, signal)));
    // A late index shows reminders that another worker leases; they disappear from it soon.
    if (!claimed.includes(true)) {
      const upcoming = items.find(item => (item.next_at ?? 0) > nowMs)?.next_at;
      return upcoming ?? (due.length > 0 ? nowMs + limits.reminderPollMs : Number.POSITIVE_INFINITY);
    }
  }
  return Number.POSITIVE_INFINITY;
}

// Reminders of all users are in these queues: one that another program wrote, and that cannot be handled, is set aside
// and does not stop the others.
function handleSafely(deps: ReminderDeps, seen: ClaimedReminder, signal: AbortSignal): Promise<boolean> {
  return handleOne(deps, seen, signal).catch(async error => {
    if (!isMalformed(error)) throw error;
    const { user_id, task_id } = seen;
    deps.log.error({ err: error, user_id, task_id }, 'a reminder cannot be handled');
    const change = { set: { failure: failureOf(error) }, remove: ['next_at', 'owner'] as const };
    await ignoreLostLease(deps.store.update(reminder, seen, change, { pattern: 'set a reminder aside' }));
    return true;
  });
}

const failureOf = (error: unknown): string =>
  cutText(error instanceof Error ? error.message : String(error), limits.failureChars);

// True if this worker got the lease.
async function handleOne(deps: ReminderDeps, seen: ClaimedReminder, signal: AbortSignal): Promise<boolean> {
  const mine = await claim(deps, seen);
  if (!mine) return false;
  const failure = await fireIfDue(deps, mine, signal).catch((error: unknown) => error);
  if (failure !== undefined && signal.aborted) await makeDue(deps, mine, 'give back a reminder');
  else if (failure !== undefined) await retryLater(deps, mine, failure);
  else {
    const options = { if: fencedBy(mine), pattern: 'reminder done' };
    await ignoreLostLease(deps.store.delete(reminder, mine, options));
  }
  return true;
}

// Why it failed, if it did.
async function fireIfDue(deps: ReminderDeps, mine: Reminder, signal: AbortSignal): Promise<unknown> {
  const { user_id, task_id, due_at } = mine;
  const options = { consistent: true, pattern: 'task to remind of' };
  const found = await deps.store.get(task, { user_id, task_id }, options);
  return found && isStillDue(found, due_at) ? fire(deps, mine, found, signal) : undefined;
}

const isStillDue = ({ status, remind_at }: Task, dueMs: number): boolean =>
  isOpen(status) && remind_at !== undefined && remind_at * 1000 === dueMs;

// Until the lease ends, the reminder is not due for others. If this worker dies, another one takes it then.
async function claim(
  { store, clock, owners }: ReminderDeps,
  seen: ClaimedReminder,
): Promise<Reminder | undefined> {
  const leaseMs = clock.now() + limits.reminderLeaseMs;
  return ignoreLostLease(
    store.update(
      reminder,
      seen,
      { set: { next_at: leaseMs, fence: seen.fence + 1, owner: owners.next() } },
      { if: { ...fencedBy(seen), next_at: seen.next_at }, current: seen, pattern: 'claim reminder' },
    ),
  );
}

// Fails if another worker leases it by now, or if its user has changed it.
const fencedBy = ({ fence, due_at }: Reminder) => ({ fence, due_at });

async function ignoreLostLease<T>(writing: Promise<T>): Promise<T | undefined> {
  try {
    return await writing;
  } catch (error) {
    if (tableErrors.includes(error) && error.code === 'table.condition_failed') return undefined;
    throw error;
  }
}

async function fire(
  { clock, remind }: ReminderDeps,
  { user_id, task_id, due_at }: Reminder,
  found: Task,
  stopping: AbortSignal,
): Promise<unknown> {
  const over = new AbortController();
  const signal = AbortSignal.any([stopping, over.signal]);
  const late = clock.sleep(limits.reminderPortMs, signal).then(() => {
    throw new Error('the reminder was not delivered in time');
  });
  const user = ownerOf(user_id);
  const sent = { key: `${task_id}:${due_at}`, user, user_id, task: showTask(found), at: due_at, signal };
  try {
    await Promise.race([remind(sent), late]);
    return undefined;
  } catch (error) {
    return error ?? new Error('the reminder was refused');
  } finally {
    over.abort();
    late.catch(() => {});
  }
}

// Tries again later. After the last attempt the reminder leaves the index, and stays in the table for inspection.
async function retryLater(deps: ReminderDeps, mine: Reminder, failure: unknown): Promise<void> {
  const { store, clock, random, log } = deps;
  // A store that throttles or is unavailable does not count as an attempt.
  const attempts = mine.attempts + (isUnavailable(failure) ? 0 : 1);
  const delays = { firstMs: limits.reminderRetryFirstMs, mostMs: limits.reminderRetryMostMs };
  const delayMs = backoffMs(attempts, delays, random, 'half');
  const isLast = attempts >= limits.reminderAttempts;
  log.warn({ err: failure, task_id: mine.task_id, attempts, isLast }, 'could not send a reminder');
  const noted = { attempts, failure: failureOf(failure) };
  const change = isLast
    ? { set: noted, remove: ['next_at' as const, 'owner' as const] }
    : { set: { ...noted, next_at: clock.now() + delayMs }, remove: ['owner' as const] };
  const options = { if: fencedBy(mine), current: mine, pattern: 'reminder failed' };
  await ignoreLostLease(store.update(reminder, mine, change, options));
}
