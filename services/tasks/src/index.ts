import { createBell, type Random, systemRandom, unknownOwners, type Worker } from '@stak/kit';
import { listEndpoints } from './api-lists.ts';
import { syncEndpoints } from './api-sync.ts';
import { taskEndpoints } from './api-tasks.ts';
import { userEndpoints } from './api-user.ts';
import type { Services, TasksDeps } from './deps.ts';
import { createEraser } from './eraser.ts';
import { tasksErrors } from './errors.ts';
import { createHub } from './hub.ts';
import { createLanes } from './lanes.ts';
import { type ListQuery, listTasks } from './list-page.ts';
import { ensureUser } from './profile.ts';
import { bellName, createReminderWorker } from './reminders.ts';
import { createSearch } from './search.ts';
import { taskStatistics } from './statistics.ts';
import { createFollowings, createSubscriptions } from './streams.ts';
import { todoAppData } from './table.ts';

export type { TasksDeps } from './deps.ts';
export { tasksErrors } from './errors.ts';
export { type Owner, ownerOf, userIdOf } from './owner.ts';
export { taskOwners } from './owners.ts';
export type { DescribeOwner, Person } from './profile.ts';
export type { Remind } from './reminders.ts';
export type { WireTask } from './schema.ts';
export type { TaskStatistics } from './statistics.ts';
export { task, todoAppData, trashed, user } from './table.ts';

export function createTasks(deps: TasksDeps) {
  const { store, clock, ids, log, cursors, enterTenant, remind, publicUrl = '' } = deps;
  const random: Random = deps.random ?? systemRandom;
  const owners = deps.owners ?? unknownOwners(ids);
  const bell = createHub();
  const onReminder = () => bell.publish(bellName);
  const users = { store, clock, describeOwner: deps.describeOwner };
  const writing = {
    ...users,
    ids,
    random,
    lanes: createLanes(),
    onReminder,
    ensureUser: (userId: string) => ensureUser(users, userId),
  };
  const search = createSearch(writing);
  const wanted = createBell(clock);
  const hub = createHub(wanted.ring);
  const services: Services = { ...writing, log, cursors, enterTenant, hub, search, publicUrl };
  const workers: Worker[] = [createReminderWorker({ store, clock, log, owners, random, bell, remind })];

  // Paths without a parameter come first: `/v1/tasks/search` is no task.
  const api = [
    ...listEndpoints(services),
    ...syncEndpoints(services),
    ...userEndpoints(services),
    ...taskEndpoints(services),
  ] as const;

  return {
    api,
    errors: tasksErrors,
    tables: [todoAppData],
    subscriptions: createSubscriptions(services),
    followings: createFollowings(services, wanted),
    workers,
    eraser: createEraser({ store, search }),
    // For a program that the service is part of. Whose tasks they are, it has to know.
    operations: {
      list: (userId: string, query: ListQuery) => listTasks(services, userId, query),
    },
    taskStatistics: (userId: string) => taskStatistics(writing, userId),
  };
}
