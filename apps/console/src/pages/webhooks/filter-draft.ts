import type { Connection } from './queries.ts';

type Filters = Connection['filters'];
type Node = Filters[number];
type Rule = Extract<Node, { field: unknown }>;
export type Operator = Rule['operator'];

/** The filters that the builder can show: one list of rules, of which all or any have to match. */
export type FilterDraft = { match: 'all' | 'any'; rules: RuleDraft[] };
export type RuleDraft = { field: Rule['field']; path: string; operator: Operator; value: string };

export const operatorNames: Readonly<Record<Operator, string>> = {
  equals: 'is',
  not_equals: 'is not',
  contains: 'contains',
  not_contains: 'does not contain',
  exists: 'exists',
  not_exists: 'does not exist',
  regex: 'matches the pattern',
  gt: 'is greater than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
};

export const takesValue = (operator: Operator): boolean => operator !== 'exists' && operator !== 'not_exists';

const isRule = (node: Node): node is Rule => 'field' in node;

/** Undefined for nested groups, which only the JSON can show. */
export function draftFilters(filters: Filters): FilterDraft | undefined {
  const [only] = filters;
  if (filters.length === 1 && only && 'or' in only && only.or.every(isRule))
    return { match: 'any', rules: only.or.map(draftRule) };
  return filters.every(isRule) ? { match: 'all', rules: filters.map(draftRule) } : undefined;
}

const draftRule = ({ field, path, name, operator, value }: Rule): RuleDraft => ({
  field,
  path: field === 'body' ? (path ?? '') : (name ?? ''),
  operator,
  value: showValue(value),
});

// Text that could be parsed as another type is quoted.
function showValue(value: Rule['value']): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  return typeof readValue(value) === 'string' && !value.startsWith('"') ? value : JSON.stringify(value);
}

/** `42`, `true` and `null` are parsed as JSON; everything else is text, quoted or not. */
export function readValue(text: string): string | number | boolean | null {
  const trimmed = text.trim();
  if (!/^(?:-?\d|true$|false$|null$|".*"$)/s.test(trimmed)) return text;
  try {
    return JSON.parse(trimmed) as string | number | boolean | null;
  } catch {
    return text;
  }
}

export function filtersOf({ match, rules }: FilterDraft): Filters {
  const made = rules.map(({ field, path, operator, value }): Rule => {
    const where =
      field === 'body' ? { path: path === '' ? '$' : path } : field === 'method' ? {} : { name: path };
    const isText = operator === 'regex' || operator === 'contains' || operator === 'not_contains';
    const given = isText && !value.startsWith('"') ? value : readValue(value);
    return { field, ...where, operator, ...(takesValue(operator) && { value: given }) };
  });
  return match === 'any' && made.length > 0 ? [{ or: made }] : made;
}
