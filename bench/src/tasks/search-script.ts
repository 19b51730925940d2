import type { Contestant } from '../contestant.ts';
import type { SearchSettings } from './search.ts';
import { fillTasks, userOf } from './stored-tasks.ts';
import { countIn, openTasks, tableName } from './tasks.ts';

// One user's tasks: the full-text index, and the documented way, a scan with a filter.

const wanted = 'invoice';

export async function start({ folder, tasks: count }: SearchSettings): Promise<Contestant> {
  const tasks = await openTasks(folder);
  await fillTasks(tasks, 1, count);
  const call = tasks.callAs(userOf(0));

  async function scan(): Promise<number> {
    let hits = 0;
    let from: Record<string, unknown> | undefined;
    do {
      const page = await tasks.client.scan({
        TableName: tableName,
        FilterExpression:
          'begins_with(PK, :tasks) AND (contains(title, :text) OR contains(description, :text))',
        ExpressionAttributeValues: { ':tasks': `TASK#${userOf(0)}`, ':text': wanted },
        ...(from && { ExclusiveStartKey: from }),
      });
      hits += page.Items!.length;
      from = page.LastEvaluatedKey;
    } while (from);
    return hits;
  }
  return {
    operations: {
      search: async () => {
        const result = await call('GET', `/v1/tasks/search?q=${wanted}&limit=20`);
        if (countIn(result) === 0) throw new Error('nothing was found');
      },
      scan: async () => {
        if ((await scan()) === 0) throw new Error('nothing was found');
      },
    },
    close: tasks.close,
  };
}
