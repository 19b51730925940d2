import { type Following, type Subscription, subscribe } from '@stak/streams';
import type { Deps } from './deps.ts';
import { change, todoAppData, user } from './tables.ts';
import { followSettings } from './users/settings.ts';

// What every process hears by itself, where the store can tell it.
export const createFollowings = ({ hub }: Deps): Following[] => [
  {
    subscription: subscribe({
      name: 'tasks-live',
      table: todoAppData,
      entities: [change],
      handle({ kind, new: entry }) {
        if (kind === 'insert') hub.notify(entry.user_id);
      },
    }) as Subscription,
    isWanted: () => hub.subscribers() > 0,
    wanted: hub.subscribed,
    lookAgain: hub.notifyAll,
  },
];

// What follows from a write. Both may be told twice, and do the same again.
export const createSubscriptions = (deps: Deps): Subscription[] => [
  subscribe({
    name: 'tasks-changes',
    table: todoAppData,
    entities: [change],
    async handle({ kind, new: entry }) {
      if (kind !== 'insert') return;
      deps.hub.notify(entry.user_id);
      await deps.search.refresh(entry.user_id);
    },
  }) as Subscription,
  subscribe({
    name: 'tasks-settings',
    table: todoAppData,
    entities: [user],
    async handle({ old, new: now }) {
      if (now) await followSettings(deps, old, now);
    },
  }) as Subscription,
];
