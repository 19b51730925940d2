import { cursorRefused, type Page } from '@stak/http';
import { todayIn } from '../dates.ts';
import { type Deps, refuseCursor } from '../deps.ts';
import { adoptAll } from '../edit/adopt.ts';
import { type CommitDeps, readTally } from '../edit/commit.ts';
import {
  allTasksOf,
  type Listed,
  openTasks,
  type PageReader,
  type Reading,
  readTasks,
  tasksDueBetween,
  tasksGroupedByCategory,
  tasksGroupedByStatus,
  tasksInCategory,
  tasksInOrder,
  tasksRanked,
  tasksWithDueDate,
  tasksWithout,
  tasksWithPriority,
  tasksWithStatus,
} from '../queries/access-patterns.ts';
import { type Clause, type Filter, matches, parseFilter } from '../queries/filter.ts';
import {
  type Priority,
  priorities,
  type Status,
  type Summary,
  showSummary,
  showTask,
  type Task,
  type WireTask,
} from '../schema.ts';
import { currentTally } from '../sync/changes.ts';

export type ListDeps = CommitDeps & Pick<Deps, 'cursors'>;
export type ListParams = {
  limit: number;
  cursor?: string;
  filter?: string;
  sort?: Sort;
  order?: 'asc' | 'desc';
  view?: 'summary' | 'full';
};

export async function listTasks(
  deps: ListDeps,
  user_id: string,
  query: ListParams,
): Promise<Page<WireTask | Summary>> {
  const { limit, sort, order = 'asc', view = 'summary' } = query;
  const context = { store: deps.store, user_id };
  const filter = await filterOf(deps, user_id, query.filter ?? '');
  const isAboutParents =
    sort === 'position' || filter.some(one => one.kind === 'present' && one.attribute === 'parent_id');
  // When a task has expired, its subtasks stand on their own: that is written when the tally is read.
  if (isAboutParents && query.cursor === undefined) await currentTally(deps, user_id);
  const queries = planList(context, { filter, sort, newestFirst: order === 'desc' });
  const bound = ['start of a query', user_id, query.filter ?? '', sort ?? null, order];
  try {
    const start = query.cursor === undefined ? undefined : positionIn(deps, query.cursor, queries, bound);
    let { items, next } = await readQueries(queries, limit, start);
    if (items.some(item => item.task_id === undefined)) {
      await adoptAll(deps, user_id);
      ({ items, next } = await readQueries(queries, limit, start));
    }
    items = items.filter(item => item.task_id !== undefined);
    const data =
      view === 'full' ? (await completeList(context, items, filter)).map(showTask) : items.map(showSummary);
    return { data, next_cursor: next ? positionText(deps, next, bound) : null };
  } catch (error) {
    return refuseCursor(error);
  }
}

// "Today" depends on the user's time zone.
async function filterOf(deps: ListDeps, user_id: string, text: string): Promise<Filter> {
  if (text === '') return [];
  const settings = await readTally(deps, user_id, false);
  return parseFilter(text, todayIn(settings?.time_zone ?? 'UTC', deps.clock.now()));
}

// The position of a list as a cursor. The cursor of a query is already sealed for its user and that query, so the index
// of the query stands in front of it in plain text: with another index it does not open. Only the start of a query has
// no cursor of its own, and is sealed here.
const withinQuery = /^(\d{1,3})\.(.+)$/;

const positionText = ({ cursors }: ListDeps, { index, cursor }: ListPosition, bound: readonly unknown[]) =>
  cursor === undefined ? cursors.seal({ leg: index }, bound) : `${index}.${cursor}`;

function positionIn(
  { cursors }: ListDeps,
  text: string,
  queries: readonly unknown[],
  bound: readonly unknown[],
): ListPosition {
  const [, index, cursor] = withinQuery.exec(text) ?? [];
  if (cursor === undefined) return { index: (cursors.open(text, bound) as { leg: number }).leg };
  if (Number(index) >= queries.length) throw cursorRefused();
  return { index: Number(index), cursor };
}

export const sorts = ['created', 'due_date', 'priority', 'category', 'status', 'position'] as const;
type Sort = (typeof sorts)[number];
export type ListRequest = { filter: Filter; sort?: Sort; newestFirst?: boolean };
// Where a list continues: the index of its query, and the cursor within.
export type ListPosition = { index: number; cursor?: string };

type Context = Pick<Reading, 'store' | 'user_id'>;

// Chooses the access pattern that reads the least: the one for the requested order, or else the one that fits the
// filter. Tasks without the attribute that a list is sorted by come last.
export function planList(
  context: Context,
  { filter, sort, newestFirst }: ListRequest,
): readonly PageReader[] {
  const source = sort === undefined || sort === 'created' ? sourceOf(filter, sort) : sort;
  const reading = { ...context, newestFirst };
  const inOrder = <T>(values: readonly T[]) => (newestFirst ? values.toReversed() : values);
  const rest = (attribute: 'due_date' | 'priority' | 'category', own: Filter) =>
    own.length > 0 ? [] : tasksWithout({ ...reading, filter }, attribute);

  switch (source) {
    case 'category': {
      const [values, own] = valuesOf(filter, 'category');
      const others = { ...reading, filter: without(filter, own) };
      if (values) return inOrder(values.toSorted(byKey)).flatMap(value => tasksInCategory(others, value));
      return [...tasksGroupedByCategory(others), ...rest('category', requiring(filter, 'category'))];
    }
    case 'priority': {
      const [values, own] = valuesOf(filter, 'priority');
      const others = { ...reading, filter: without(filter, own) };
      const ranked = priorities.toReversed().filter(value => values?.includes(value)) as Priority[];
      if (values) return inOrder(ranked).flatMap(value => tasksWithPriority(others, value));
      return [...inOrder(tasksRanked(others)), ...rest('priority', requiring(filter, 'priority'))];
    }
    case 'status': {
      const [values, own] = valuesOf(filter, 'status');
      const others = { ...reading, filter: without(filter, own) };
      if (values)
        return inOrder(values.toSorted()).flatMap(value => tasksWithStatus(others, value as Status));
      const open = filter.find(clause => clause.kind === 'open' && !clause.not);
      if (open) return inOrder(openTasks({ ...reading, filter: without(filter, [open]) }).toReversed());
      return tasksGroupedByStatus(others);
    }
    case 'due_date': {
      const [days, own] = daysOf(filter);
      const others = { ...reading, filter: without(filter, own) };
      if (days) return tasksDueBetween(others, days);
      return [...tasksWithDueDate(others), ...rest('due_date', requiring(filter, 'due_date'))];
    }
    case 'position':
      return tasksInOrder({ ...reading, filter });
    default:
      return allTasksOf({ ...reading, filter });
  }
}

// Names are sorted by their keys, where they are encoded.
const byKey = (a: string, b: string): number => (encodeURIComponent(a) < encodeURIComponent(b) ? -1 : 1);

// Within one category, status, priority or day, tasks are in the order they were created.
function sourceOf(filter: Filter, sort: 'created' | undefined): Sort {
  const [days] = daysOf(filter);
  if (sort === 'created') {
    for (const attribute of ['category', 'priority', 'status'] as const)
      if (valuesOf(filter, attribute)[0]?.length === 1) return attribute;
    return days && days.from === days.to ? 'due_date' : 'created';
  }
  if (valuesOf(filter, 'category')[0]) return 'category';
  if (days) return 'due_date';
  if (valuesOf(filter, 'priority')[0]) return 'priority';
  return valuesOf(filter, 'status')[0] || filter.some(one => one.kind === 'open' && !one.not)
    ? 'status'
    : 'created';
}

type OneOf = Clause & { kind: 'oneOf' };
type Due = Clause & { kind: 'due' };

// The values that all clauses about an attribute allow, and those clauses.
function valuesOf(filter: Filter, attribute: OneOf['attribute']): [string[] | undefined, Filter] {
  const own = filter.filter(
    (clause): clause is OneOf => clause.kind === 'oneOf' && clause.attribute === attribute && !clause.not,
  );
  const [first, ...more] = own;
  if (!first) return [undefined, own];
  const values = first.values.filter(value => more.every(clause => clause.values.includes(value)));
  return [[...new Set(values)], own];
}

function daysOf(filter: Filter): [{ from?: string; to?: string } | undefined, Filter] {
  const own = filter.filter((clause): clause is Due => clause.kind === 'due' && !clause.not);
  if (own.length === 0) return [undefined, own];
  const from = own
    .flatMap(clause => clause.from ?? [])
    .toSorted()
    .at(-1);
  const to = own.flatMap(clause => clause.to ?? []).toSorted()[0];
  return [{ from, to }, own];
}

const requiring = (filter: Filter, attribute: string): Filter =>
  filter.filter(clause => clause.kind === 'present' && clause.attribute === attribute && !clause.not);

const without = (filter: Filter, own: Filter): Filter => filter.filter(clause => !own.includes(clause));

export async function readQueries(
  queries: readonly PageReader[],
  limit: number,
  start: ListPosition = { index: 0 },
): Promise<{ items: Listed[]; next?: ListPosition }> {
  const items: Listed[] = [];
  let { index, cursor } = start;
  for (; index < queries.length; index++, cursor = undefined) {
    if (items.length === limit) return { items, next: { index } };
    const page = await queries[index]!({ limit: limit - items.length, cursor });
    items.push(...page.items);
    if (page.cursor !== undefined) return { items, next: { index, cursor: page.cursor } };
  }
  return { items };
}

// Whole tasks instead of summaries, as they are now. Leaves out those that no longer match.
export async function completeList(
  { store, user_id }: Context,
  listed: readonly Listed[],
  filter: Filter,
): Promise<Task[]> {
  const tasks = await readTasks(
    store,
    user_id,
    listed.map(one => one.task_id),
  );
  return tasks.filter(task => matches(task, filter));
}
