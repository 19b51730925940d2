import { nameSchemas } from '@stak/http';
import { z } from 'zod';
import { compilePath } from './json-path.ts';
import * as limits from './limits.ts';
import { compileRegex, findCostlyPart } from './regex.ts';

export const operators = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'exists',
  'not_exists',
  'regex',
  'gt',
  'lt',
  'gte',
  'lte',
] as const;
export type Operator = (typeof operators)[number];

const scalar = z.union([z.string().max(limits.valueChars), z.number(), z.boolean(), z.null()]);
export type Scalar = z.infer<typeof scalar>;

// One flat object instead of one for each field: groups repeat it at every level of the OpenAPI document.
const ruleShape = z.strictObject({
  field: z
    .enum(['body', 'header', 'query', 'method'])
    .describe('The part of the request that the rule reads.'),
  path: z.string().optional().describe('JSONPath into the body'),
  name: z.string().min(1).max(100).optional().describe('Name of the header or query parameter'),
  operator: z.enum(operators).describe('How the values are compared.'),
  value: scalar.optional().describe('What the field is compared with.'),
});
export type Rule = z.infer<typeof ruleShape>;

const ruleSchema = ruleShape.superRefine((rule, context) => {
  for (const [path, message] of [...findMisplaced(rule), ...findProblems(rule)])
    context.addIssue({ code: 'custom', path: [path], message });
});

function findMisplaced({ field, path, name }: Rule): [string, string][] {
  const problems: [string, string][] = [];
  const isNamed = field === 'header' || field === 'query';
  if ((path !== undefined) !== (field === 'body'))
    problems.push(['path', 'is required for the body, and only allowed there']);
  if ((name !== undefined) !== isNamed)
    problems.push(['name', 'is required for a header or the query, and only allowed there']);
  return problems;
}

function findProblems(rule: Rule): [string, string][] {
  const problems: [string, string][] = [];
  const attempt = (field: string, compile: () => unknown) => {
    try {
      compile();
    } catch (error) {
      problems.push([field, error instanceof Error ? error.message : 'is not valid']);
    }
  };
  const { path, operator, value } = rule;
  if (path !== undefined) attempt('path', () => compilePath(path));
  if (operator === 'exists' || operator === 'not_exists') {
    if (value !== undefined) problems.push(['value', `${operator} takes no value`]);
  } else if (value === undefined) problems.push(['value', `${operator} needs a value`]);
  else if (operator === 'regex') {
    if (typeof value !== 'string') problems.push(['value', 'must be a pattern']);
    else {
      const costly = findCostlyPart(value);
      if (costly !== undefined) problems.push(['value', costly]);
      else attempt('value', () => compileRegex(value));
    }
  } else if (/^[gl]te?$/.test(operator) && typeof value !== 'number' && typeof value !== 'string')
    problems.push(['value', 'only numbers and strings have an order']);
  return problems;
}

export type FilterNode = Rule | { and: FilterNode[] } | { or: FilterNode[] } | { not: FilterNode };

// Levels are written out instead of recursive, so the depth is bounded before anything descends.
function groupOf(inner: z.ZodType<FilterNode>, level: number): z.ZodType<FilterNode> {
  const members = z.array(inner).min(1).max(limits.rules);
  const groups = {
    and: z.strictObject({ and: members.describe('Rules that must all match.') }),
    or: z.strictObject({ or: members.describe('Rules of which at least one must match.') }),
    not: z.strictObject({ not: inner.describe('A rule that must not match.') }),
  };
  nameSchemas({
    [`FilterAnd${level}`]: groups.and,
    [`FilterOr${level}`]: groups.or,
    [`FilterNot${level}`]: groups.not,
  });
  return z.union([ruleSchema, groups.and, groups.or, groups.not]);
}

let node: z.ZodType<FilterNode> = ruleSchema;
for (let depth = 0; depth < limits.groupDepth; depth += 1) node = groupOf(node, limits.groupDepth - depth);

// Counts the rules before any of them is parsed: each may have a pattern that has to be compiled.
function countFirst(filters: unknown, context: z.RefinementCtx): unknown {
  const found = { rules: 0, groups: 0, patterns: 0 };
  const isFull = () =>
    found.rules > limits.rules || found.groups > limits.groups || found.patterns > limits.regexRules;
  const waiting: unknown[] = [filters];
  while (waiting.length > 0 && !isFull()) {
    const one = waiting.pop();
    if (Array.isArray(one)) for (const member of one.slice(0, limits.rules + 1)) waiting.push(member);
    else if (typeof one === 'object' && one !== null) {
      const { and, or, not, operator } = one as Record<string, unknown>;
      if (and === undefined && or === undefined && not === undefined) found.rules += 1;
      else found.groups += 1;
      if (operator === 'regex') found.patterns += 1;
      waiting.push(and, or, not);
    }
  }
  const complain = (message: string) => context.addIssue({ code: 'custom', message });
  if (found.rules > limits.rules) complain(`has more than ${limits.rules} rules`);
  else if (found.groups > limits.groups) complain(`has more than ${limits.groups} groups`);
  else if (found.patterns > limits.regexRules) complain(`has more than ${limits.regexRules} regex rules`);
  return filters;
}

nameSchemas({ FilterRule: ruleSchema });

const countedFilters = z
  .array(node)
  .max(limits.rules)
  .superRefine((filters, context) => {
    if (context.issues.length > 0) return; // a path among them may not compile
    const wide = filters
      .flatMap(listRules)
      .filter(({ path }) => path !== undefined && compilePath(path).isWide);
    if (wide.length > limits.widePaths)
      context.addIssue({
        code: 'custom',
        message: `has more than ${limits.widePaths} paths that select several values`,
      });
  });

// All of them have to match. An empty list matches every request.
export const filtersSchema = z
  .preprocess(countFirst, countedFilters)
  .describe('Rules that an event must pass. An empty list passes every event.');
export type Filters = z.infer<typeof filtersSchema>;

export function listRules(one: FilterNode): Rule[] {
  if ('and' in one) return one.and.flatMap(listRules);
  if ('or' in one) return one.or.flatMap(listRules);
  return 'not' in one ? listRules(one.not) : [one];
}
