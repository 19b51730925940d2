import { writeFile } from 'node:fs/promises';
import { iterate } from '@stak/client';
import { UsageError } from '../../config/errors.ts';
import { readCount, readOptional, readOptionalList, readText } from '../../config/flags.ts';
import type { FlagsOf } from '../action.ts';
import { connect } from '../connection.ts';
import { printJson, printTable, takeFirst } from '../print.ts';
import type { options } from './tasks.ts';

type Flags = FlagsOf<typeof options>;

export const actions = { add, list, done, search, export: download };

const shownTasks = 50;
const priorities = ['low', 'medium', 'high', 'urgent'] as const;
const formats = ['json', 'csv'] as const;

async function add(flags: Flags, title: string | undefined): Promise<void> {
  if (title === undefined) throw new UsageError('what is to be done? like stak tasks add "Call Ann"');
  const body = {
    title,
    due_date: readOptional('--due', flags.due),
    priority: readChoice('--priority', flags.priority, priorities),
    category: readOptional('--category', flags.category),
    labels: readOptionalList('--label', flags.label),
    description: readOptional('--description', flags.description),
  };
  const { client } = await connect(flags);
  const { data } = await client.tasks.create({ body });
  console.log(data.task_id);
}

async function list(flags: Flags): Promise<void> {
  const filter = readOptional('--filter', flags.filter) ?? (flags.all ? '' : 'is:open');
  const most = readCount('--limit', flags.limit, shownTasks);
  const { client } = await connect(flags);
  show(flags, await takeFirst(iterate(client.tasks.list, { filter, limit: Math.min(most, 100) }), most));
}

async function search(flags: Flags, q: string | undefined): Promise<void> {
  if (q === undefined) throw new UsageError('which words? like stak tasks search "call ann"');
  const most = readCount('--limit', flags.limit, shownTasks);
  const { client } = await connect(flags);
  show(flags, await takeFirst(iterate(client.tasks.search, { q, limit: Math.min(most, 100) }), most));
}

type TaskRow = {
  task_id: string;
  title: string;
  status: string;
  due_date?: string;
  priority?: string;
  category?: string;
};

function show(flags: Flags, tasks: readonly TaskRow[]): void {
  if (flags.json) printJson(tasks);
  else
    printTable(
      [['id', 'due', 'priority', 'status', 'category', 'title'], ...tasks.map(rowOf)],
      'There is nothing to show; stak tasks add "Call Ann" makes a task, --all shows those that are done.',
    );
}

const rowOf = ({
  task_id,
  due_date = '',
  priority = '',
  status,
  category = '',
  title,
}: TaskRow): string[] => [task_id, due_date, priority, status, category, title];

async function done(flags: Flags, task_id: string | undefined): Promise<void> {
  if (task_id === undefined) throw new UsageError('which task? see stak tasks list');
  const { client } = await connect(flags);
  const { data } = await client.tasks.update({ task_id, body: { status: 'completed' } });
  console.log(`done: ${data.title}`);
}

async function download(flags: Flags): Promise<void> {
  const format = readChoice('--format', flags.format, formats) ?? 'json';
  const file = readOptional('--out', flags.out);
  const { client } = await connect(flags);
  const { data } = await client.tasks.export({ format });
  const text = typeof data === 'string' ? data : `${JSON.stringify(data, null, 2)}\n`;
  if (file === undefined) process.stdout.write(text);
  else await writeFile(file, text, { mode: 0o600 });
}

function readChoice<T extends string>(name: string, value: unknown, choices: readonly T[]): T | undefined {
  if (value === undefined) return undefined;
  const text = readText(name, value);
  const choice = choices.find(choice => choice === text);
  if (choice === undefined)
    throw new UsageError(`${name} is one of ${choices.join(', ')}, not ${JSON.stringify(text)}`);
  return choice;
}
