import { createIds, systemClock } from '@stak/kit';
import type { Attributes } from '@stak/table';
import { withText, writeCopies } from '../copies.ts';
import { newTask, type OpenTasks, tableName, tasksInRow } from './tasks.ts';

export const userOf = (i: number): string => `usr_${i}`;

const first = 'usr_template';
const words = 'milk invoice garden letter bicycle window holiday dentist report birthday'.split(' ');

export type Templates = { tasks: readonly Attributes[]; tally: Attributes };

// The service writes the first 40, for a separate user.
export async function writeTemplates({ client, callAs }: OpenTasks): Promise<Templates> {
  for (let i = 0; i < tasksInRow; i++) await callAs(first)('POST', '/v1/tasks', newTask(i));
  const tasks = await client.query({
    TableName: tableName,
    KeyConditionExpression: 'PK = :pk',
    ExpressionAttributeValues: { ':pk': `TASK#${first}` },
  });
  const { Item: tally } = await client.get({
    TableName: tableName,
    Key: { PK: `USER#${first}`, SK: 'COUNTS' },
  });
  return { tasks: tasks.Items!, tally: tally! };
}

// Creates users with this many tasks each.
export async function fillTasks(tasks: OpenTasks, users: number, tasksEach: number): Promise<void> {
  const templates = await writeTemplates(tasks);
  await writeCopies(tasks.client, tableName, copiesOf(templates, users, tasksEach));
}

function* copiesOf({ tasks, tally }: Templates, users: number, tasksEach: number) {
  const rows = Math.floor(tasksEach / tasksInRow);
  for (let u = 0; u < users; u++) {
    yield tallyOf(withText(tally, first, userOf(u)), rows);
    yield* copyTasks(tasks, userOf(u), rows * tasksInRow);
  }
}

const ids = createIds({ clock: systemClock });

// Creates up to a million copies by replacing text in the tasks' JSON.
export function* copyTasks(templates: Templates['tasks'], user: string, count: number) {
  const texts = templates.map(task => ({
    id: task.task_id as string,
    json: JSON.stringify(task).replaceAll(first, user),
  }));
  for (let n = 0; n < count; n++) {
    const { id, json } = texts[n % tasksInRow]!;
    const word = words[Math.floor(n / tasksInRow) % words.length]!;
    const copy = JSON.parse(json.replaceAll(id, ids.next('tsk'))) as Attributes;
    copy.title = `Task ${n}: ${word} of ${user}`;
    yield copy;
  }
}

// The counts for a multiple of the tasks.
function tallyOf(tally: Attributes, times: number): Attributes {
  const multiply = (counts: Record<string, number>) =>
    Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count * times]));
  return {
    ...tally,
    total: tally.total * times,
    by_status: multiply(tally.by_status),
    by_priority: multiply(tally.by_priority),
    by_category: tally.by_category.map((category: { tasks: number }) => ({
      ...category,
      tasks: category.tasks * times,
    })),
  };
}
