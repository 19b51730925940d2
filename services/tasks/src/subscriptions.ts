import { type FollowerOptions, type Subscription, subscribe } from '@stak/streams';
import type { Deps } from './deps.ts';
import { adoptTasks } from './edit/adopt.ts';
import { isForeign } from './edit/foreign.ts';
import { change, task, todoAppData, user } from './tables.ts';
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

// What follows `TASK#`.
const keyPart = (key: unknown): string => String(key).slice('TASK#'.length);

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
    entities: [user, task],
    async handle(change) {
      if (change.entity === 'user') {
        if (change.new) await followSettings(deps, change.old, change.new);
      } else if (change.new && isForeign(change.new)) {
        const [userId, taskId] = [keyPart(change.keys.PK), keyPart(change.keys.SK)];
        const counted = change.old && !isForeign(change.old) ? change.old : undefined;
        await adoptTasks(deps, userId, [taskId], counted);
      }
    },
  }) as Subscription,
];
