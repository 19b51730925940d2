import type { Sort } from './task-queries.ts';

// The state of the page is in its URL, so that back, reload and a second window keep it.
export const views = ['board', 'list', 'calendar', 'trash'] as const;
export type View = (typeof views)[number];
const sorts: readonly Sort[] = ['position', 'due_date', 'priority', 'created'];

export type TasksSearch = {
  view?: View;
  q?: string;
  filter?: string;
  sort?: Sort;
  task?: string; // the one that is open
  day?: string; // the one that is chosen in the calendar
  create?: true; // the field for a new task has the focus
};

const isDay = (value: unknown): value is string =>
  typeof value === 'string' &&
  /^\d{4}-\d{2}-\d{2}$/.test(value) &&
  !Number.isNaN(Date.parse(value)) &&
  new Date(value).toISOString().startsWith(value);

export function readTasksSearch(search: Record<string, unknown>): TasksSearch {
  const view = views.find(one => one === search.view);
  const sort = sorts.find(one => one === search.sort);
  // A search for digits is a number in the parsed address.
  const text = (name: string) => {
    const value = search[name];
    return (typeof value === 'string' && value !== '') || typeof value === 'number'
      ? { [name]: String(value) }
      : {};
  };
  return {
    ...(view && { view }),
    ...text('q'),
    ...text('filter'),
    ...(sort && sort !== 'position' && { sort }),
    ...text('task'),
    ...(isDay(search.day) && { day: search.day }),
    ...(search.create === true && { create: true }),
  };
}
