import { join } from 'node:path';
import type { Contestant } from '../contestant.ts';
import type { OperationSettings, Store } from './operations.ts';
import { fillTasks, userOf } from './stored-tasks.ts';
import { countIn, idsIn, newTask, type OpenTasks, openTasks, tableName } from './tasks.ts';

// A store with one user's tasks and one with many users', on disk, in one process.

const page = 50;

export async function start({ folder, small, large }: OperationSettings): Promise<Contestant> {
  const stores: Record<Store, OpenTasks> = {
    small: await openTasks(join(folder, 'small')),
    large: await openTasks(join(folder, 'large')),
  };
  await fillTasks(stores.small, 1, small);
  await fillTasks(stores.large, large.users, large.tasksEach);
  const operations: Contestant['operations'] = {};
  for (const [name, tasks] of Object.entries(stores))
    for (const [operation, call] of Object.entries(await callsOf(tasks)))
      operations[`${operation}, ${name}`] = call;
  return {
    operations,
    close: async () => {
      for (const store of Object.values(stores)) await store.close();
    },
  };
}

async function callsOf({ client, operations, callAs }: OpenTasks): Promise<Contestant['operations']> {
  const user = userOf(0);
  const call = callAs(user);
  const list = `/v1/tasks?limit=${page}`;
  const ids = idsIn(await call('GET', `${list}&filter=status:pending`));
  let created = 0;
  let turn = 0;
  const some = () => ids[turn++ % ids.length]!;
  const full = (count: number | undefined) => {
    if (count !== page) throw new Error(`a page of ${count} tasks`);
  };
  return {
    query: async () => {
      const { Items } = await client.query({
        TableName: tableName,
        KeyConditionExpression: 'PK = :pk AND begins_with(SK, :tasks)',
        ExpressionAttributeValues: { ':pk': `TASK#${user}`, ':tasks': 'TASK#' },
        Limit: page,
      });
      full(Items?.length);
    },
    list: async () => full((await operations.list(user, { limit: page })).data.length),
    'list route': async () => full(countIn(await call('GET', list))),
    create: () => call('POST', '/v1/tasks', newTask(created++)),
    get: () => call('GET', `/v1/tasks/${ids[created++ % ids.length]}`),
    status: () => {
      const status = Math.floor(turn / ids.length) % 2 === 0 ? 'in_progress' : 'pending'; // never the current one
      return call('PATCH', `/v1/tasks/${some()}`, { status });
    },
  };
}
