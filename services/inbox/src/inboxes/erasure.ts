import { type AnyQuery, done, ignoreConflict, type NamedStep, ref, write } from '@stak/table';
import { type Deps, retry } from '../deps.ts';
import { bucketsOf, type InboxId, inboxOfBucket, type MailboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import {
  audienceOf,
  erasedRecipient,
  findSend,
  forgetRecipient,
  keyOfSend,
} from '../publish/send-records.ts';
import { listInboxes } from '../settings.ts';
import {
  allOfTenant,
  allOfUser,
  allSent,
  allToEveryone,
  dueSends,
  member,
  membersOfInbox,
  memberTotal,
  publicStats,
  send,
  userStats,
} from '../tables.ts';

type Erased = 'done' | 'more';

// Erases users and tenants, a limited amount with each call. DynamoDB removes what has expired.
export function createEraser(deps: Deps) {
  const { store } = deps;
  return {
    name: 'inbox',

    async eraseUser(tenantId: string, userId: string): Promise<Erased> {
      for await (const { inbox_key } of listInboxes(deps, tenantId))
        if (
          await eraseInboxOfUser(
            deps,
            { tenant_key: tenantId, inbox_key, uid: userId },
            { isInboxLeft: true },
          )
        )
          return 'more';
      // If one was changed, the mailbox is looked at again: it may have been delivered to in this moment.
      return (await forgetInPending(deps, tenantId, userId)) > 0 ? 'more' : 'done';
    },

    async eraseTenant(tenantId: string): Promise<Erased> {
      for await (const { inbox_key } of listInboxes(deps, tenantId))
        if (await eraseInbox(deps, { tenant_key: tenantId, inbox_key })) return 'more';
      const page = await store.query(allOfTenant, { tenant_key: tenantId }, { limit: limits.erasedTogether });
      return (await remove(deps, allOfTenant, page.items)) ? 'more' : 'done';
    },

    async *exportUser(tenantId: string, userId: string): AsyncGenerator<{ kind: string; item: unknown }> {
      for await (const { inbox_key } of listInboxes(deps, tenantId)) {
        const user = { tenant_key: tenantId, inbox_key, uid: userId };
        const joined = await store.get(member, user);
        if (joined) yield { kind: 'inbox member', item: joined };
        for await (const found of store.all(allOfUser, user)) {
          if (found.entity === 'expiry') continue;
          const whole =
            found.entity === 'user message'
              ? (await deps.sharedBodies.complete(user, [found.item])).get(found.item.id)
              : found.item;
          if (whole) yield { kind: `inbox ${found.entity}`, item: whole };
        }
      }
    },
  };
}

// Sends that wait for their time, or for the worker, have left no message with the user yet. They are found by the index
// of what is due, which all tenants share. Returns how many were changed; there may be more.
async function forgetInPending(deps: Deps, tenantId: string, uid: string): Promise<number> {
  let changed = 0;
  for (let shard = 0; shard < limits.dueShards; shard++)
    for await (const { tenant_key, bucket, id } of deps.store.all(dueSends, { shard })) {
      if (tenant_key !== tenantId) continue;
      if (await forgetPending(deps, { tenant_key, inbox_key: inboxOfBucket(bucket), uid }, id)) changed += 1;
      if (changed === limits.erasedTogether) return changed;
    }
  return changed;
}

async function forgetPending(deps: Deps, user: MailboxId, id: string): Promise<boolean> {
  const { store, clock } = deps;
  const found = await findSend(deps, user, id);
  if (!found || !(await audienceOf(deps, found)).includes(user.uid)) return false;
  await forgetRecipient(deps, user, { id });
  const left = await findSend(deps, user, id);
  if (left?.status !== 'scheduled' || (await audienceOf(deps, left)).some(uid => uid !== erasedRecipient))
    return true;
  // It was for nobody else. The worker ends it, and removes what it says.
  const set = { dueat: clock.now(), shard: left.shard };
  await store.update(send, keyOfSend(left), { set }, { if: { status: 'scheduled' } }).catch(ignoreConflict);
  deps.due.notify();
  return true;
}

type Extent = { isInboxLeft: boolean }; // in an inbox that is erased as a whole, lists of recipients need no change

// Returns how much it removed; there may be more. The state and the membership are removed last and together, on the
// condition that nothing has arrived meanwhile, so the number of members stays correct.
async function eraseInboxOfUser(deps: Deps, user: MailboxId, { isInboxLeft }: Extent): Promise<number> {
  const { store } = deps;
  const { tenant_key, inbox_key, uid } = user;
  const { items } = await store.query(allOfUser, user, { limit: limits.erasedTogether });
  const first = items.filter(item => item.entity !== 'user stats');
  if (isInboxLeft)
    for (const { entity, item } of first)
      if (entity === 'user message') await forgetRecipient(deps, user, item);
  if (await remove(deps, allOfUser, first)) return first.length;
  return retry<number>(deps, async () => {
    const { state, found } = await store.transactGet({
      state: ref(userStats, user),
      found: ref(member, { tenant_key, inbox_key, uid }),
    });
    const steps: NamedStep[] = [];
    if (state) steps.push(['state', write.delete(userStats, user, { ifVersion: state.version })]);
    if (found)
      steps.push(
        ['member', write.delete(member, { tenant_key, inbox_key, uid }, { ifPresent: true })],
        ['total', write.update(memberTotal, { tenant_key, inbox_key }, { add: { users: -1 } })],
      );
    if (steps.length > 0) await store.transact(steps, { pattern: 'erase a member' });
    return done(steps.length);
  });
}

// Removes a part of an inbox, except for its head. Sends go first, so that nothing more is delivered.
export async function eraseSome(deps: Deps, inbox: InboxId): Promise<number> {
  const { store } = deps;
  const page = { limit: limits.erasedTogether };
  for (const bucket of bucketsOf(inbox)) {
    const { items } = await store.query(allSent, { tenant_key: inbox.tenant_key, bucket }, page);
    if (await remove(deps, allSent, items)) return items.length;
  }
  const { items } = await store.query(membersOfInbox, inbox, { limit: 1 });
  if (items[0]) return eraseInboxOfUser(deps, { ...inbox, uid: items[0].uid }, { isInboxLeft: false });
  const all = (await store.query(allToEveryone, inbox, page)).items;
  const texts = all.filter(one => one.entity !== 'public stats');
  await remove(deps, allToEveryone, texts);
  return texts.length;
}

async function eraseInbox(deps: Deps, inbox: InboxId): Promise<boolean> {
  if ((await eraseSome(deps, inbox)) > 0) return true;
  const head = await deps.store.delete(publicStats, inbox);
  return (await deps.store.delete(memberTotal, inbox)) !== undefined || head !== undefined;
}

const removedTogether = 50; // in one transaction, which has 100 steps at most

async function remove(
  { store }: Deps,
  { entities }: AnyQuery,
  found: readonly { entity: string; item: object }[],
): Promise<boolean> {
  for (let i = 0; i < found.length; i += removedTogether) {
    const steps = found.slice(i, i + removedTogether).map(({ entity, item }, n): NamedStep => {
      const kind = entities.find(one => one.name === entity)!;
      return [`${n}`, write.delete(kind, item as never)];
    });
    await store.transact(steps, { pattern: 'erase' });
  }
  return found.length > 0;
}
