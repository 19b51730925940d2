import { withProblems } from '@stak/http';
import { createHub, createKeyedLock, createNotifier, systemRandom, unknownOwners } from '@stak/kit';
import type { Deps, TasksDeps } from './deps.ts';
import { createTask, requestOf } from './edit/create.ts';
import { createEditRoutes } from './edit/routes.ts';
import { getTask, updateTask } from './edit/update.ts';
import { tasksErrors } from './errors.ts';
import { type ListParams, listTasks } from './lists/list.ts';
import { createListRoutes } from './lists/routes.ts';
import { createSearch } from './lists/search.ts';
import { taskStatistics } from './lists/statistics.ts';
import { type Owner, userIdOf } from './owner.ts';
import { createReminderWorker } from './schedule/reminders.ts';
import { newTask, showTask, type WireTask } from './schema.ts';
import { createFollowers, createSubscriptions } from './subscriptions.ts';
import { createSyncRoutes } from './sync/routes.ts';
import { todoAppData } from './tables.ts';
import { revokeFeed } from './users/calendar-feed.ts';
import { createEraser } from './users/erasure.ts';
import { ensureUser, readUser } from './users/profile.ts';
import { createUserRoutes } from './users/routes.ts';
import { createWhy } from './why.ts';

export type { TasksDeps } from './deps.ts';
export { tasksErrors } from './errors.ts';
export { taskInsights } from './insights.ts';
export type { TaskStatistics } from './lists/statistics.ts';
export { type Owner, ownerOf, userIdOf } from './owner.ts';
export type { Remind } from './schedule/reminders.ts';
export type { WireTask } from './schema.ts';
export { task, taskOwners, todoAppData } from './tables.ts';
export type { DescribeOwner, Person } from './users/profile.ts';
export { requestOfCall } from './why.ts';

export function createTasks(given: TasksDeps) {
  const { store, clock, ids, log, cursors, remind, describeOwner, publicUrl = '' } = given;
  const { random = systemRandom, owners = unknownOwners(ids) } = given;
  const { isTenantActive, isMember, lastRevokedAt } = given;
  const reminderAdded = createNotifier(clock);
  const users = { store, clock, describeOwner };
  const writing = {
    ...users,
    ids,
    random,
    lock: createKeyedLock(),
    onReminder: reminderAdded.notify,
    ensureUser: (userId: string) => ensureUser(users, userId),
  };
  const search = createSearch(writing);
  const hub = createHub(clock);
  const feedChecks = { isTenantActive, isMember, lastRevokedAt };
  const deps: Deps = { ...writing, ...feedChecks, log, cursors, hub, search, publicUrl };

  return {
    // Paths without a parameter come first: `/v1/tasks/search` is not a task.
    // A read may write too: what has expired is subtracted from the counts first.
    api: withProblems(
      [
        ...createListRoutes(deps),
        ...createSyncRoutes(deps),
        ...createUserRoutes(deps),
        ...createEditRoutes(deps),
      ] as const,
      ['tasks.busy'],
    ),
    errors: tasksErrors,
    tables: [todoAppData],
    subscriptions: createSubscriptions(deps),
    followers: createFollowers(deps),
    workers: [createReminderWorker({ store, clock, log, owners, random, added: reminderAdded, remind })],
    eraser: createEraser({ store, search }),
    // For other services in the same process. They have to know whose tasks they ask for.
    operations: {
      // Ends the feed of the owner; with `onlyOf`, only if this person asked for it.
      async revokeFeed(owner: Owner, onlyOf?: { made_by: string }) {
        try {
          await revokeFeed(deps, userIdOf(owner), undefined, onlyOf);
        } catch (error) {
          const hasNone = ['tasks.feed_not_found', 'tasks.user_refused'];
          if (!tasksErrors.includes(error) || !hasNone.includes(error.code)) throw error;
        }
      },
      readTimeZone: async (userId: string) => (await readUser(store, userId))?.time_zone ?? 'UTC',
      list: (userId: string, params: ListParams) => listTasks(deps, userId, params),
      // Once for each key, as by `POST /v1/tasks`.
      async create(userId: string, input: object, key: string, cause?: string) {
        const body = new TextEncoder().encode(JSON.stringify(input));
        const origin = { request: { ...requestOf(key), body }, cause };
        return JSON.parse((await createTask(deps, userId, newTask.parse(input), origin)).body) as WireTask;
      },
      // One that is completed stays as it is.
      async complete(userId: string, taskId: string) {
        const found = await getTask(deps, userId, taskId, true);
        if (found.status === 'completed') return showTask(found);
        return showTask(await updateTask(deps, userId, taskId, { status: 'completed' }));
      },
    },
    why: createWhy({ store, clock }),
    taskStatistics: (userId: string) => taskStatistics(writing, userId),
  };
}
