import { userMessage } from '@stak/inbox';
import {
  deliveryInsights,
  type FollowedEntity,
  type FollowedTable,
  follow,
  messageInsights,
  taskInsights,
} from '@stak/lake';
import { ownerOf, task } from '@stak/tasks';
import { tenant, tenantUser } from '@stak/tenants';
import { delivery, event } from '@stak/webhooks';

// What the lake keeps, and whose it is. Counters, locks, leases and secrets stay in their tables.

const ofAccount = ({ userId }: { userId: string }) => ({ account_id: userId });

const entities: readonly FollowedEntity[] = [
  follow(task, {
    view: 'tasks',
    ownerOf: ({ user_id }) => {
      const owner = ownerOf(user_id);
      return owner.kind === 'account'
        ? { account_id: owner.accountId }
        : { tenant_id: owner.tenantId, user_id: owner.userId };
    },
  }),
  follow(event, { view: 'events', ownerOf: ofAccount }),
  follow(delivery, { view: 'deliveries', ownerOf: ofAccount }),
  follow(userMessage, {
    view: 'messages',
    ownerOf: ({ tenant_key, uid }) => ({ tenant_id: tenant_key, user_id: uid }),
  }),
  follow(tenant, { view: 'tenants', ownerOf: ({ account_id }) => ({ account_id }) }),
  follow(tenantUser, {
    view: 'users',
    ownerOf: ({ tenant_id, user_id }) => ({ tenant_id, user_id }),
  }),
];

export const followed: readonly FollowedTable[] = [...new Set(entities.map(one => one.entity.table))].map(
  table => {
    const own = entities.filter(one => one.entity.table === table);
    const kept = new Set(own.map(one => one.entity));
    return { table, entities: own, ignore: table.entities.filter(one => !kept.has(one)) };
  },
);

export const insights = [
  ...taskInsights(task),
  ...deliveryInsights(delivery),
  ...messageInsights(userMessage),
];
