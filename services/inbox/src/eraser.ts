import { type AnyEntity, defineQuery, ref, write } from '@stak/table';
import type { Service } from './deps.ts';
import * as limits from './limits.ts';
import type { Step } from './mailbox.ts';
import type { Place, UserPlace } from './places.ts';
import { done, untilDone } from './race.ts';
import { forgetRecipient } from './recipients.ts';
import {
  audiencePart,
  categoryErasure,
  hostId,
  inboxErasure,
  member,
  membersOfInbox,
  memberTotal,
  messageBody,
  requestKey,
  send,
  sharedHostId,
} from './send-table.ts';
import { listInboxes } from './settings.ts';
import {
  broadcast,
  categoryStats,
  expiry,
  inboxCategories,
  inboxConfig,
  publicCategoryStats,
  publicMessage,
  publicStats,
  receipt,
  tenantSettings,
  userMessage,
  userStats,
} from './table.ts';

type Erased = 'done' | 'more';

const ofUser = [userMessage, receipt, userStats, categoryStats, expiry] as const;
const toEveryone = [publicMessage, publicStats, publicCategoryStats, broadcast] as const;
const sent = [send, messageBody, audiencePart, hostId, sharedHostId, requestKey] as const;
const ofTenant = [tenantSettings, inboxConfig, inboxCategories, inboxErasure, categoryErasure] as const;
const allOfUser = defineQuery('everything of a user', { of: ofUser, consistent: true });
const allToEveryone = defineQuery('everything to everyone', { of: toEveryone, consistent: true });
const allSent = defineQuery('everything sent', { of: sent, consistent: true });
const allOfTenant = defineQuery('everything of a tenant', { of: ofTenant, consistent: true });

// Removes users and tenants, some of it with each call. What has expired is left to DynamoDB, which is about to
// remove it.
export function createEraser(service: Service) {
  const { store } = service;
  return {
    name: 'inbox',

    async eraseUser(tenantId: string, userId: string): Promise<Erased> {
      for await (const { inbox_key } of listInboxes(service, tenantId))
        if (
          await eraseInboxOfUser(
            service,
            { tenant_key: tenantId, inbox_key, uid: userId },
            { isInboxLeft: true },
          )
        )
          return 'more';
      return 'done';
    },

    async eraseTenant(tenantId: string): Promise<Erased> {
      for await (const { inbox_key } of listInboxes(service, tenantId))
        if (await eraseInbox(service, { tenant_key: tenantId, inbox_key })) return 'more';
      const page = await store.query(allOfTenant, { tenant_key: tenantId }, { limit: limits.erasedTogether });
      return (await remove(service, ofTenant, page.items)) ? 'more' : 'done';
    },

    async *exportUser(tenantId: string, userId: string): AsyncGenerator<{ kind: string; item: unknown }> {
      for await (const { inbox_key } of listInboxes(service, tenantId)) {
        const user = { tenant_key: tenantId, inbox_key, uid: userId };
        for await (const found of store.all(allOfUser, user)) {
          if (found.entity === 'expiry') continue;
          const whole =
            found.entity === 'user message'
              ? (await service.sharedBodies.complete(user, [found.item])).get(found.item.id)
              : found.item;
          if (whole) yield { kind: `inbox ${found.entity}`, item: whole };
        }
      }
    },
  };
}

type Extent = { isInboxLeft: boolean }; // an inbox that goes as a whole needs no lists of recipients any more

// Answers how much it has removed: there may be more. The state and the membership go last and together, on the
// condition that nothing has arrived meanwhile, so the number of members stays right.
async function eraseInboxOfUser(service: Service, user: UserPlace, { isInboxLeft }: Extent): Promise<number> {
  const { store } = service;
  const { tenant_key, inbox_key, uid } = user;
  const { items } = await store.query(allOfUser, user, { limit: limits.erasedTogether });
  const first = items.filter(one => one.entity !== 'user stats');
  if (isInboxLeft)
    for (const { entity, item } of first)
      if (entity === 'user message') await forgetRecipient(service, user, item);
  if (await remove(service, ofUser, first)) return first.length;
  return untilDone<number>(service, async () => {
    const { state, found } = await store.transactGet({
      state: ref(userStats, user),
      found: ref(member, { tenant_key, inbox_key, uid }),
    });
    const steps: Step[] = [];
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

// Some of what is in an inbox, but for its head: what was sent first, so that nothing more is delivered.
export async function eraseSome(service: Service, place: Place): Promise<number> {
  const { store } = service;
  const page = { limit: limits.erasedTogether };
  const sends = (await store.query(allSent, place, page)).items;
  if (await remove(service, sent, sends)) return sends.length;
  const { items } = await store.query(membersOfInbox, place, { limit: 1 });
  if (items[0]) return eraseInboxOfUser(service, { ...place, uid: items[0].uid }, { isInboxLeft: false });
  const all = (await store.query(allToEveryone, place, page)).items;
  const texts = all.filter(one => one.entity !== 'public stats');
  await remove(service, toEveryone, texts);
  return texts.length;
}

async function eraseInbox(service: Service, place: Place): Promise<boolean> {
  if ((await eraseSome(service, place)) > 0) return true;
  const head = await service.store.delete(publicStats, place);
  return (await service.store.delete(memberTotal, place)) !== undefined || head !== undefined;
}

const removedTogether = 50; // in one transaction, of 100 steps

async function remove(
  { store }: Service,
  entities: readonly AnyEntity[],
  found: readonly { entity: string; item: object }[],
): Promise<boolean> {
  for (let i = 0; i < found.length; i += removedTogether) {
    const steps = found.slice(i, i + removedTogether).map(({ entity, item }, n): Step => {
      const kind = entities.find(one => one.name === entity)!;
      return [`${n}`, write.delete(kind, item as never)];
    });
    await store.transact(steps, { pattern: 'erase' });
  }
  return found.length > 0;
}
