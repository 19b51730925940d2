import type { Clause, Filter } from './filter.ts';
import { matches } from './match.ts';
import {
  allTasksOf,
  type Leg,
  type Listed,
  openTasks,
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
} from './patterns.ts';
import { type Priority, priorities, type Status, type Task } from './schema.ts';

export const sorts = ['created', 'due_date', 'priority', 'category', 'status', 'position'] as const;
export type Sort = (typeof sorts)[number];
export type ListRequest = { filter: Filter; sort?: Sort; newestFirst?: boolean };
// Where a list goes on: in which of its queries, and where there.
export type ListPosition = { leg: number; cursor?: string };

type Context = Pick<Reading, 'store' | 'user_id'>;

// Chooses the access pattern that reads the least: the one for the order asked for, or else the one for what the
// filter asks. What lacks the attribute a list is sorted by comes last.
export function planList(context: Context, { filter, sort, newestFirst }: ListRequest): readonly Leg[] {
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

// Names stand in the order of their keys, where they are encoded.
const byKey = (a: string, b: string): number => (encodeURIComponent(a) < encodeURIComponent(b) ? -1 : 1);

// Within one category, status, priority or day, tasks stand in the order they were made.
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

// What an attribute may be, by all clauses about it, and which those were.
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

export async function readLegs(
  legs: readonly Leg[],
  limit: number,
  start: ListPosition = { leg: 0 },
): Promise<{ items: Listed[]; next?: ListPosition }> {
  const items: Listed[] = [];
  let { leg, cursor } = start;
  for (; leg < legs.length; leg++, cursor = undefined) {
    if (items.length === limit) return { items, next: { leg } };
    const page = await legs[leg]!({ limit: limit - items.length, cursor });
    items.push(...page.items);
    if (page.cursor !== undefined) return { items, next: { leg, cursor: page.cursor } };
  }
  return { items };
}

// The whole tasks instead of summaries, as they are now: one that no longer fits is left out.
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
  return tasks.filter(one => matches(one, filter));
}
