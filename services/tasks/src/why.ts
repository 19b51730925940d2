import {
  type Asker,
  type Clock,
  type Findings,
  type Ref,
  readCause,
  refOfCause,
  type Thing,
} from '@stak/kit';
import type { Store } from '@stak/table';
import { requestId, requestOf } from './edit/create.ts';
import { type Owner, ownerOf, userIdOf } from './owner.ts';
import type { Task } from './schema.ts';
import { type TrashedTask, task, trashed } from './tables.ts';

// Why there are tasks, and what their reminders became. docs/adr/0236-what-is-written-names-its-cause.md

type Deps = { store: Store; clock: Clock };

const ref = (kind: string, ...parts: (string | number)[]): Ref => ({ kind, parts: parts.map(String) });

export const createWhy = ({ store, clock }: Deps): Findings => {
  const read = async (user_id: string, task_id: string): Promise<Task | TrashedTask | undefined> =>
    (await store.get(task, { user_id, task_id }, { consistent: true })) ??
    (await store.get(trashed, { user_id, task_id }, { consistent: true }));

  const reminderThing = (found: Task, accountId: string, dueMs: number): Thing => {
    const owner = ownerOf(found.user_id);
    const { user_id, task_id, title, status, remind_at } = found;
    const isOwed = remind_at !== undefined && remind_at * 1000 === dueMs && dueMs > clock.now();
    return {
      ref: ref('reminder', user_id, task_id, dueMs),
      at: dueMs,
      what: `of ${title}`,
      decided: isOwed ? 'not due yet' : status,
      ...ownedBy(owner),
      cause: ref('task', user_id, task_id),
      followed: isOwed ? [] : followedBy(owner, accountId, `${task_id}:${dueMs}`),
    };
  };
  const remind = async (
    { accountId }: Asker,
    user_id: string,
    task_id: string,
    due: string | undefined,
  ): Promise<Thing[]> => {
    const found = due !== undefined && /^\d{1,15}$/.test(due) ? await read(user_id, task_id) : undefined;
    return found ? [reminderThing(found, accountId, Number(due))] : [];
  };

  return {
    async task([user_id = '', task_id = ''], { accountId }) {
      const found = await read(user_id, task_id);
      return found ? [taskThing(found, accountId)] : [];
    },
    reminder: ([user_id = '', task_id = '', due], asker) => remind(asker, user_id, task_id, due),
    // The reminder of a task whose owner is known by name: an account, or a tenant and its user.
    reminded: ([task_id = '', due, first = '', uid], asker) =>
      remind(asker, userIdOf(named(first, uid)), task_id, due),
    // The task that a call of an agent has created, if it was this one.
    async created([task_id = '', caller = '', call = '', first = '', uid], { accountId }) {
      const user_id = userIdOf(named(first, uid));
      const found = await read(user_id, task_id);
      return found && found.cause === caller && isMadeBy(found, `${caller}.${call}`)
        ? [taskThing(found, accountId)]
        : [];
    },
  };
};

const named = (first: string, uid: string | undefined): Owner =>
  uid === undefined
    ? { kind: 'account', accountId: first }
    : { kind: 'endUser', tenantId: first, userId: uid };

const ownedBy = (owner: Owner) =>
  owner.kind === 'account'
    ? { owner: { account: owner.accountId } }
    : { owner: { tenant: owner.tenantId, users: [owner.userId] }, scope: 'tasks:read' };

// A task that was created by a request with this key.
const isMadeBy = ({ user_id, request_id }: Task, key: string): boolean =>
  request_id === requestId(user_id, requestOf(key));

function taskThing(found: Task | TrashedTask, accountId: string): Thing {
  const { user_id, task_id, title, status, created_at, remind_at } = found;
  return {
    ref: ref('task', user_id, task_id),
    at: created_at * 1000,
    what: title,
    decided: 'deleted_at' in found ? `${status}, in the trash` : status,
    ...ownedBy(ownerOf(user_id)),
    cause: causeOfTask(found, accountId),
    followed: remind_at === undefined ? [] : [ref('reminder', user_id, task_id, remind_at * 1000)],
  };
}

function causeOfTask({ cause, user_id, request_id }: Task, accountId: string): Ref | undefined {
  if (cause === undefined) return undefined;
  const { kind, id } = readCause(cause) ?? {};
  if (kind === 'task' && id !== undefined) return ref('task', user_id, id);
  // One of the calls of the turn; which one, its key says.
  if (kind === 'turn' && id !== undefined) return ref('caller', id, user_id, request_id ?? '-');
  return refOfCause(cause, accountId);
}

// A reminder is a message to its user and an event of the account.
const followedBy = (owner: Owner, accountId: string, key: string): Ref[] => [
  owner.kind === 'account'
    ? ref('reminding', key, owner.accountId)
    : ref('reminding', key, owner.tenantId, owner.userId),
  ref('emitted', accountId, `task.reminder:${key}`),
];

/** The id of the request by which a call of an agent creates a task. */
export const requestOfCall = (user_id: string, key: string): string => requestId(user_id, requestOf(key));
