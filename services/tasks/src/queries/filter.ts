import { and, type Condition, is, not as negate, or } from '@stak/table';
import { addDays } from '../dates.ts';
import { refuseField } from '../errors.ts';
import * as limits from '../limits.ts';
import {
  category,
  date,
  isOpen,
  openStatuses,
  priorities,
  type Summary,
  statuses,
  type Task,
} from '../schema.ts';

// A filter as clauses that a task has to match, all of them. Dates are resolved; both ends are included.
export type Clause = { readonly not: boolean } & (
  | {
      readonly kind: 'oneOf';
      readonly attribute: 'status' | 'priority' | 'category';
      readonly values: readonly string[];
    }
  | { readonly kind: 'label'; readonly values: readonly string[] }
  | { readonly kind: 'due'; readonly from?: string; readonly to?: string }
  | { readonly kind: 'present'; readonly attribute: Presence }
  | { readonly kind: 'open' }
);
export type Filter = readonly Clause[];
type Presence = 'due_date' | 'priority' | 'category' | 'labels' | 'parent_id';
type Term = { not: boolean; field: string; operator: string; values: string[]; at: number };

// `status:pending due<2026-12-01 category:work,"home & garden" -label:someday is:overdue`
export function parseFilter(text: string, today: string): Filter {
  if (text.length > limits.filterChars)
    throw refuse(`A filter can have at most ${limits.filterChars} characters`, 0);
  const terms = readTerms(text);
  if (terms.length > limits.filterTerms)
    throw refuse(`A filter can have at most ${limits.filterTerms} terms`, terms[limits.filterTerms]!.at);
  if (terms.reduce((sum, { values }) => sum + values.length, 0) > limits.filterValues)
    throw refuse(`A filter can have at most ${limits.filterValues} values`, 0);
  return terms.flatMap(term => clausesOf(term, today));
}

const refuse = (why: string, at: number) =>
  refuseField('tasks.filter_refused', 'query', 'filter', `${why} (at character ${at + 1}).`);

const termShape = /(-?)([a-z_]+)(<=|>=|:|<|>)/y;
const valueShape = /"((?:[^"\\]|\\.)*)"|[^\s",]+/y;

function readTerms(text: string): Term[] {
  const terms: Term[] = [];
  let at = 0;
  const skipSpace = () => {
    while (at < text.length && /\s/.test(text[at]!)) at += 1;
  };
  for (skipSpace(); at < text.length; skipSpace()) {
    const start = at;
    termShape.lastIndex = at;
    const head = termShape.exec(text);
    if (!head) throw refuse(`Expected a term like status:pending, not "${wordAt(text, at)}"`, at);
    at += head[0].length;
    const values: string[] = [];
    do {
      if (values.length > 0) at += 1;
      valueShape.lastIndex = at;
      const value = valueShape.exec(text);
      if (!value)
        throw refuse(
          text[at] === '"'
            ? 'A quoted value has no closing quote'
            : `Expected a value after "${text.slice(start, at)}"`,
          at,
        );
      values.push(value[1] === undefined ? value[0] : value[1].replaceAll(/\\(.)/g, '$1'));
      at += value[0].length;
    } while (text[at] === ',');
    if (at < text.length && !/\s/.test(text[at]!)) throw refuse('Expected a space between two terms', at);
    terms.push({ not: head[1] === '-', field: head[2]!, operator: head[3]!, values, at: start });
  }
  return terms;
}

const wordAt = (text: string, at: number): string => text.slice(at).split(/\s/, 1)[0]!.slice(0, 30);

const fields = ['status', 'priority', 'category', 'label', 'due', 'is', 'has'];
const presences: Readonly<Record<string, Presence>> = {
  due: 'due_date',
  priority: 'priority',
  category: 'category',
  label: 'labels',
  parent: 'parent_id',
};

function clausesOf(term: Term, today: string): Clause[] {
  const { field, operator, values, not, at } = term;
  if (!fields.includes(field))
    throw refuse(`Unknown field "${field}"; the fields are ${fields.join(', ')}`, at);
  if (field === 'due') return dueClauses(term, today);
  if (field === 'priority' && operator !== ':') return [rankClause(term)];
  if (operator !== ':') throw refuse(`"${field}" takes a colon`, at);
  switch (field) {
    case 'status':
      return [{ kind: 'oneOf', attribute: 'status', values: known(term, statuses), not }];
    case 'priority':
      return [{ kind: 'oneOf', attribute: 'priority', values: known(term, priorities), not }];
    case 'category':
      return [{ kind: 'oneOf', attribute: 'category', values: named(term), not }];
    case 'label':
      return [{ kind: 'label', values: named(term), not }];
    case 'has':
      return values.map(value => ({
        kind: 'present',
        attribute: presences[choose(term, value, Object.keys(presences))]!,
        not,
      }));
    default:
      return values.flatMap(value =>
        stateClauses(choose(term, value, ['open', 'overdue', 'subtask']), term, today),
      );
  }
}

function choose(term: Term, value: string, choices: readonly string[]): string {
  if (choices.includes(value)) return value;
  throw refuse(`"${term.field}" must be one of ${choices.join(', ')}, not "${value.slice(0, 30)}"`, term.at);
}

const known = (term: Term, choices: readonly string[]) =>
  term.values.map(value => choose(term, value, choices));

function named(term: Term): string[] {
  return term.values.map(value => {
    const result = category.safeParse(value);
    if (!result.success)
      throw refuse(`"${term.field}" is not a name: ${result.error.issues[0]!.message}`, term.at);
    return result.data;
  });
}

function stateClauses(value: string, { not, at }: Term, today: string): Clause[] {
  if (value === 'open') return [{ kind: 'open', not }];
  if (value === 'subtask') return [{ kind: 'present', attribute: 'parent_id', not }];
  if (not) throw refuse('"is:overdue" cannot be negated: use due>=today or -is:open', at);
  return [
    { kind: 'open', not: false },
    { kind: 'due', to: addDays(today, -1), not: false },
  ];
}

// `priority>=high`, by rank.
function rankClause(term: Term): Clause {
  const rank = (priorities as readonly string[]).indexOf(choose(term, single(term), priorities));
  const isBelow = term.operator.startsWith('<');
  const withEqual = term.operator.endsWith('=');
  const values = priorities.filter((_, r) => (r === rank ? withEqual : r < rank === isBelow));
  if (values.length === 0) throw refuse(`No priority is ${term.operator} ${single(term)}`, term.at);
  return { kind: 'oneOf', attribute: 'priority', values, not: term.not };
}

const single = (term: Term): string => {
  if (term.values.length > 1) throw refuse(`"${term.field}${term.operator}" takes one value`, term.at);
  return term.values[0]!;
};

function dueClauses(term: Term, today: string): Clause[] {
  const { operator, not } = term;
  const value = single(term);
  if (operator === ':' && value === 'none') return [{ kind: 'present', attribute: 'due_date', not: !not }];
  if (operator === ':') {
    const range = /^(.+)\.\.(.+)$/.exec(value);
    const [from, to] = [range?.[1] ?? value, range?.[2] ?? value].map(part => dayOf(term, part, today));
    if (from! > to!) throw refuse(`"${value}" ends before it begins`, term.at);
    return [{ kind: 'due', from, to, not }];
  }
  const day = dayOf(term, value, today);
  const bounds = {
    '<': { to: addDays(day, -1) },
    '<=': { to: day },
    '>': { from: addDays(day, 1) },
    '>=': { from: day },
  };
  return [{ kind: 'due', ...bounds[operator as keyof typeof bounds], not }];
}

const namedDays: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 };

function dayOf(term: Term, text: string, today: string): string {
  const days = Object.hasOwn(namedDays, text) ? namedDays[text] : undefined;
  if (days !== undefined) return addDays(today, days);
  const inDays = /^([+-]\d{1,5})d$/.exec(text);
  if (inDays) return addDays(today, Number(inDays[1]));
  if (!date.safeParse(text).success)
    throw refuse(`"${text.slice(0, 30)}" is not a date; use 2026-12-01, today, tomorrow or +7d`, term.at);
  return text;
}

// The filter as a condition of DynamoDB, and as a function of a task. Both mean the same.

export function conditionOf(filter: Filter): Condition<Task> | undefined {
  const conditions = filter.map(clause => {
    const positive = positiveOf(clause);
    // A comparison with a missing attribute is false, so its negation is true.
    return clause.not ? negate(positive) : positive;
  });
  return conditions.length === 0 ? undefined : (and(...conditions) as Condition<Task>);
}

function positiveOf(clause: Clause): object {
  switch (clause.kind) {
    case 'oneOf':
      return { [clause.attribute]: is.oneOf(clause.values) };
    case 'label':
      return or(...clause.values.map(label => ({ labels: is.containing(label) })));
    case 'present':
      return { [clause.attribute]: is.present };
    case 'open':
      return { status: is.oneOf(openStatuses) };
    case 'due':
      return { due_date: dueComparison(clause) };
  }
}

const dueComparison = ({ from, to }: { from?: string; to?: string }) => {
  if (from !== undefined && to !== undefined) return is.between(from, to);
  return from === undefined ? is.atMost(to!) : is.atLeast(from);
};

export const matches = (task: Summary, filter: Filter): boolean =>
  filter.every(clause => holds(task, clause) !== clause.not);

function holds(task: Summary, clause: Clause): boolean {
  switch (clause.kind) {
    case 'oneOf': {
      const value = task[clause.attribute];
      return value !== undefined && clause.values.includes(value);
    }
    case 'label':
      return clause.values.some(label => task.labels?.includes(label));
    case 'present':
      return task[clause.attribute] !== undefined;
    case 'open':
      return isOpen(task.status);
    case 'due': {
      const { due_date } = task;
      if (due_date === undefined) return false;
      return (clause.from ?? due_date) <= due_date && due_date <= (clause.to ?? due_date);
    }
  }
}
