// Which view of the tasks is open, in the address, so that it can be kept and sent to somebody.
export const views = ['board', 'list', 'calendar', 'insights', 'sql', 'trash'] as const;
export type View = (typeof views)[number];
export type TasksSearch = { view?: View };

export function readTasksSearch(search: Record<string, unknown>): TasksSearch {
  const view = views.find(one => one === search.view);
  return view === undefined ? {} : { view };
}
