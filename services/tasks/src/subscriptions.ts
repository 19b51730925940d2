import { runAtMost } from '@stak/kit';
import { type Change, type FollowerOptions, type Subscription, subscribe } from '@stak/streams';
import { type Attributes, hasKeyOf } from '@stak/table';
import type { Deps } from './deps.ts';
import { adoptTasks } from './edit/adopt.ts';
import { isForeign } from './edit/foreign.ts';
import * as limits from './limits.ts';
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

// Returns what follows the `#`.
const keyPart = (key: unknown): string => String(key).slice(String(key).indexOf('#') + 1);

// The effects of a write. A change that is delivered twice has the same effect. Both get whole pages, and look at the
// keys first: most changes are none of theirs, and need not be decoded.
export const createSubscriptions = (deps: Deps): Subscription[] => [
  subscribe({
    name: 'tasks-changes',
    table: todoAppData,
    entities: [change],
    needsConsumer: true, // the search index is kept in this process
    async handleBatch(changes) {
      if (deps.search.users() === 0) return;
      const users = new Set<string>();
      for (const { kind, keys } of changes)
        if (kind === 'insert' && hasKeyOf(change, keys)) users.add(keyPart(keys.PK));
      await runAtMost(
        limits.effectsTogether,
        Array.from(users, userId => () => deps.search.refresh(userId)),
      );
    },
  }) as Subscription,
  subscribe({
    name: 'tasks-settings',
    table: todoAppData,
    entities: [user, task],
    async handleBatch(changes) {
      const effects = new Map<string, (() => Promise<void>)[]>(); // by user, in order
      for (const change of changes) {
        const effect = isOfUserOrTask(change.keys) && effectOf(deps, change);
        if (!effect) continue;
        const userId = keyPart(change.keys.PK);
        effects.set(userId, [...(effects.get(userId) ?? []), effect]);
      }
      const inOrder = async (ofUser: readonly (() => Promise<void>)[]) => {
        for (const effect of ofUser) await effect();
      };
      await runAtMost(
        limits.effectsTogether,
        Array.from(effects.values(), ofUser => () => inOrder(ofUser)),
      );
    },
  }) as Subscription,
];

const isOfUserOrTask = (keys: Attributes): boolean => hasKeyOf(user, keys) || hasKeyOf(task, keys);

function effectOf(
  deps: Deps,
  { entity, old: before, new: after, keys }: Change<typeof user | typeof task>,
): (() => Promise<void>) | undefined {
  if (!after) return undefined;
  if (entity === 'user') return () => followSettings(deps, before, after);
  if (entity !== 'task' || !isForeign(after)) return undefined;
  const counted = before && !isForeign(before) ? before : undefined;
  return () => adoptTasks(deps, keyPart(keys.PK), [keyPart(keys.SK)], counted);
}
