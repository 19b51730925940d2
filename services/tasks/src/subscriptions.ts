import { type FollowerOptions, type Subscription, subscribe } from '@stak/streams';
import type { Deps } from './deps.ts';
import { change, todoAppData, user } from './tables.ts';
import { followSettings } from './users/settings.ts';

// Wakes the event streams of this process.
export const createFollowers = ({ hub }: Deps): FollowerOptions[] => [
  {
    subscription: subscribe({
      name: 'tasks-live',
      table: todoAppData,
      entities: [change],
      handle({ kind, new: entry }) {
        if (kind === 'insert') hub.notify(entry.user_id);
      },
    }) as Subscription,
    hasListeners: () => hub.subscribers() > 0,
    listenerAdded: hub.subscribed,
    onMissed: hub.notifyAll,
  },
];

// The effects of a write. A change that is delivered twice has the same effect.
export const createSubscriptions = (deps: Deps): Subscription[] => [
  subscribe({
    name: 'tasks-changes',
    table: todoAppData,
    entities: [change],
    needsConsumer: true, // the search index is kept in this process
    async handle({ kind, new: entry }) {
      if (kind === 'insert') await deps.search.refresh(entry.user_id);
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
