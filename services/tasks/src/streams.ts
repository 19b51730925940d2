import type { Bell } from '@stak/kit';
import { type Following, type Subscription, subscribe } from '@stak/streams';
import type { Services } from './deps.ts';
import { followSettings } from './settings.ts';
import { change, todoAppData, user } from './table.ts';

// What every process hears by itself, where the store can tell it.
export const createFollowings = ({ hub }: Services, wanted: Bell): Following[] => [
  {
    subscription: subscribe({
      name: 'tasks-live',
      table: todoAppData,
      entities: [change],
      handle({ kind, new: entry }) {
        if (kind === 'insert') hub.publish(entry.user_id);
      },
    }) as Subscription,
    isWanted: () => hub.followers() > 0,
    wanted,
    lookAgain: hub.publishAll,
  },
];

// What follows from a write. Both may be told twice, and do the same again.
export const createSubscriptions = (services: Services): Subscription[] => [
  subscribe({
    name: 'tasks-changes',
    table: todoAppData,
    entities: [change],
    async handle({ kind, new: entry }) {
      if (kind !== 'insert') return;
      services.hub.publish(entry.user_id);
      await services.search.refresh(entry.user_id);
    },
  }) as Subscription,
  subscribe({
    name: 'tasks-settings',
    table: todoAppData,
    entities: [user],
    async handle({ old, new: now }) {
      if (now) await followSettings(services, old, now);
    },
  }) as Subscription,
];
