import { createIds, systemClock } from '@stak/kit';
import type { Attributes } from '@stak/table';
import { withText, writeCopies } from '../copies.ts';
import { newTask, type OpenTasks, tableName, tasksInRow } from './tasks.ts';

export const userOf = (i: number): string => `usr_${i}`;

const first = 'usr_template';
const words = 'milk invoice garden letter bicycle window holiday dentist report birthday'.split(' ');

// Users with so many tasks each. The first 40 are written by the service, for a user of its own; the others are copies.
export async function fillTasks(tasks: OpenTasks, users: number, tasksEach: number): Promise<void> {
  const { client, callAs } = tasks;
  for (let i = 0; i < tasksInRow; i++) await callAs(first)('POST', '/v1/tasks', newTask(i));
  const templates = await client.query({
    TableName: tableName,
    KeyConditionExpression: 'PK = :pk',
    ExpressionAttributeValues: { ':pk': `TASK#${first}` },
  });
  const { Item: tally } = await client.get({
    TableName: tableName,
    Key: { PK: `USER#${first}`, SK: 'COUNTS' },
  });
  const ids = createIds({ clock: systemClock });
  const rows = Math.floor(tasksEach / tasksInRow);
  function* copies() {
    for (let u = 0; u < users; u++) {
      yield tallyOf(withText(tally!, first, userOf(u)), rows);
      for (let n = 0; n < rows * tasksInRow; n++) {
        const template = templates.Items![n % tasksInRow]!;
        const copy = withText(withText(template, first, userOf(u)), template.task_id, ids.next('tsk'));
        const word = words[Math.floor(n / tasksInRow) % words.length]!;
        yield { ...copy, title: `Task ${n}: ${word} of ${userOf(u)}` };
      }
    }
  }
  await writeCopies(client, tableName, copies());
}

// The counts of so many times as many tasks.
function tallyOf(tally: Attributes, times: number): Attributes {
  const multiply = (counts: Record<string, number>) =>
    Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count * times]));
  return {
    ...tally,
    total: tally.total * times,
    by_status: multiply(tally.by_status),
    by_priority: multiply(tally.by_priority),
    by_category: tally.by_category.map((one: { tasks: number }) => ({ ...one, tasks: one.tasks * times })),
  };
}
