import { csvLine } from '@stak/kit';
import type { Store } from '@stak/table';
import { showTask, type Task } from '../schema.ts';
import { allTasks } from '../tables.ts';

export const exportFormats = ['json', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

const columns = [
  'task_id',
  'title',
  'description',
  'status',
  'priority',
  'category',
  'labels',
  'due_date',
  'parent_id',
  'recurrence',
  'created_at',
  'updated_at',
  'completed_at',
] as const satisfies readonly (keyof Task)[];

// All tasks as a stream, so an export is never in memory as a whole.
export async function* exportTasks(
  store: Store,
  user_id: string,
  format: ExportFormat,
): AsyncGenerator<string> {
  yield format === 'csv' ? csvLine(columns) : '[';
  let isFirst = true;
  for await (const one of store.all(allTasks, { user_id })) {
    if (format === 'csv') yield csvLine(columns.map(name => cellOf(one[name])));
    else yield `${isFirst ? '\n' : ',\n'}${JSON.stringify(showTask(one))}`;
    isFirst = false;
  }
  if (format === 'json') yield '\n]\n';
}

const cellOf = (value: Task[(typeof columns)[number]]) => (Array.isArray(value) ? value.join('; ') : value);
