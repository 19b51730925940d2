import { type AnyEntity, type Store, type WriteStep, write } from '@stak/table';
import * as limits from '../limits.ts';
import type { Search } from '../lists/search.ts';
import { type Owner, ownerOf, userIdOf } from '../owner.ts';
import {
  allTasks,
  bulkProgress,
  bulksOfUser,
  change,
  changesOfUser,
  emailLock,
  expiriesOfUser,
  expiry,
  feed,
  idempotency,
  member,
  membersOfTenant,
  reminder,
  remindersOfUser,
  tally,
  task,
  trashed,
  trashOfUser,
  user,
} from '../tables.ts';
import { emailLockOf, readUser } from './profile.ts';

export type Progress = 'done' | 'more';

// Erases everything of a user, a limited amount with each call. It is called until it is done, and may be interrupted
// anywhere.
export function createEraser({ store, search }: { store: Store; search: Search }) {
  const eraseOwner = async (owner: Owner): Promise<Progress> => {
    const user_id = userIdOf(owner);
    await search.forget(user_id);
    if ((await eraseSome(store, user_id)) === 'more') return 'more';
    await eraseLast(store, user_id);
    if (owner.kind === 'endUser') await store.delete(member, { tenant_id: owner.tenantId, user_id });
    return 'done';
  };
  return {
    name: 'tasks',
    eraseAccount: (accountId: string) => eraseOwner({ kind: 'account', accountId }),
    eraseUser: (tenantId: string, userId: string) => eraseOwner({ kind: 'endUser', tenantId, userId }),
    // The table lists the users of each tenant; they are erased one after the other.
    async eraseTenant(tenantId: string): Promise<Progress> {
      const { items } = await store.query(membersOfTenant, { tenant_id: tenantId }, { limit: 1 });
      const [first] = items;
      if (!first) return 'done';
      await eraseOwner(ownerOf(first.user_id));
      return 'more';
    },
    exportUser: (tenantId: string, userId: string) =>
      exportOwner(store, userIdOf({ kind: 'endUser', tenantId, userId })),
    exportAccount: (accountId: string) => exportOwner(store, userIdOf({ kind: 'account', accountId })),
  };
}

type Erasable = { user_id: string };
type Page = { limit: number; consistent: true };
type Source = (store: Store, key: Erasable, page: Page) => Promise<WriteStep[]>;

const remove = (entity: AnyEntity, items: readonly object[]): WriteStep[] =>
  items.map(item => write.delete(entity, item as never));

// The response stored for a task's creation holds its text, too.
const withRecords = (items: readonly { request_id?: string }[]): WriteStep[] =>
  remove(
    idempotency,
    items.filter(item => item.request_id !== undefined),
  );

const sources: readonly Source[] = [
  async (store, key, page) => {
    const { items } = await store.query(allTasks, key, page);
    return [...remove(task, items), ...withRecords(items)];
  },
  async (store, key, page) => {
    const { items } = await store.query(trashOfUser, key, page);
    return [...remove(trashed, items), ...withRecords(items)];
  },
  async (store, key, page) => remove(reminder, (await store.query(remindersOfUser, key, page)).items),
  async (store, key, page) => remove(expiry, (await store.query(expiriesOfUser, key, page)).items),
  async (store, key, page) => remove(change, (await store.query(changesOfUser, key, page)).items),
  async (store, key, page) => remove(bulkProgress, (await store.query(bulksOfUser, key, page)).items),
];

async function eraseSome(store: Store, user_id: string): Promise<Progress> {
  const page: Page = { limit: limits.eraseItems, consistent: true };
  for (const source of sources) {
    const steps = await source(store, { user_id }, page);
    if (steps.length === 0) continue;
    await store.batchWrite(steps, { pattern: 'erase user' });
    return 'more';
  }
  return 'done';
}

async function eraseLast(store: Store, user_id: string): Promise<void> {
  const found = await readUser(store, user_id, true);
  if (found?.email !== undefined) await store.delete(emailLock, emailLockOf(user_id, found.email));
  if (found?.feed_hash !== undefined) await store.delete(feed, { feed_hash: found.feed_hash });
  await store.delete(tally, { user_id });
  await store.delete(user, { user_id });
}

async function* exportOwner(store: Store, user_id: string): AsyncGenerator<{ kind: string; item: unknown }> {
  const found = await readUser(store, user_id, true);
  if (found) yield { kind: 'profile', item: found };
  for await (const item of store.all(allTasks, { user_id })) yield { kind: 'task', item };
  for await (const item of store.all(trashOfUser, { user_id })) yield { kind: 'trashed task', item };
  for await (const { task_id, due_at, attempts, failure } of store.all(remindersOfUser, { user_id }))
    yield { kind: 'reminder', item: { task_id, due_at, attempts, failure } };
}
