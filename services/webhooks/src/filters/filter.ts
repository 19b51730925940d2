import { type Budget, createBudget } from './budget.ts';
import { compileTest, quote, type Verdict } from './comparison.ts';
import { compilePath } from './json-path.ts';
import type { RequestView } from './request-view.ts';
import type { FilterNode, Filters, Rule } from './schema.ts';

export type FilterStep = {
  rule: string; // in words: `body $.type equals "invoice.paid"`
  matched: boolean;
  why: string;
  depth: number; // nesting of the rule's group
};

export type FilterOutcome = { matched: boolean; steps: readonly FilterStep[] };

// Throws only OverBudget, for any request. Without `trace` it stops at the first rule that decides and lists no steps; with
// it, every rule is evaluated and listed.
export type Filter = (view: RequestView, options?: { trace?: boolean; budget?: Budget }) => FilterOutcome;

type Run = { view: RequestView; trace: FilterStep[] | undefined; budget: Budget };
type Evaluate = (run: Run, depth: number) => boolean | undefined;

// For filters that filtersSchema has accepted. Compiling costs more than evaluating, so keep the result.
export function compileFilter(filters: Filters): Filter {
  const evaluate = filters.length === 0 ? () => true : compileAll(filters, 'and');
  return (view, { trace = false, budget = createBudget() } = {}) => {
    const steps: FilterStep[] = [];
    const run = { view, trace: trace ? steps : undefined, budget };
    // A filter that cannot be decided does not match.
    return { matched: evaluate(run, 0) === true, steps };
  };
}

function compileNode(node: FilterNode): Evaluate {
  if ('and' in node) return nest(compileAll(node.and, 'and'));
  if ('or' in node) return nest(compileAll(node.or, 'or'));
  if (!('not' in node)) return compileRule(node);
  const inner = nest(compileNode(node.not));
  return (run, depth) => {
    const holds = inner(run, depth);
    return holds === undefined ? undefined : !holds;
  };
}

const nest =
  (inner: Evaluate): Evaluate =>
  (run, depth) =>
    inner(run, depth + 1);

// A rule about an unreadable body is neither true nor false. A group is decided by its decided members (false decides an
// `and`, true an `or`) and is undecided otherwise, so that a `not` around it does not turn garbage into a match.
function compileAll(nodes: readonly FilterNode[], join: 'and' | 'or'): Evaluate {
  const members = nodes.map(compileNode);
  const decisive = join === 'or';
  return (run, depth) => {
    let result: boolean | undefined = !decisive;
    for (const member of members) {
      const holds = member(run, depth);
      if (holds === decisive) {
        if (!run.trace) return decisive;
        result = decisive;
      } else if (holds === undefined && result !== decisive) result = undefined;
    }
    return result;
  };
}

function compileRule(rule: Rule): Evaluate {
  const test = compileTest(rule.operator, rule.value);
  const select = compileField(rule);
  const text = describeRule(rule);
  return ({ view, trace, budget }, depth) => {
    const selected = select(view, budget);
    const verdict: Verdict = selected.ok
      ? test(selected.values, budget)
      : { holds: undefined, why: selected.reason };
    trace?.push({ rule: text, matched: verdict.holds === true, why: verdict.why, depth });
    return verdict.holds;
  };
}

type Selected = { ok: true; values: readonly unknown[] } | { ok: false; reason: string };

function compileField({
  field,
  name = '',
  path: text = '$',
}: Rule): (view: RequestView, budget: Budget) => Selected {
  if (field === 'method') return view => ({ ok: true, values: [view.method] });
  if (field === 'header') return view => ({ ok: true, values: view.header(name) });
  if (field === 'query') return view => ({ ok: true, values: view.queryValues(name) });
  const path = compilePath(text);
  return (view, budget) => {
    const json = view.json();
    return json.ok ? { ok: true, values: path.select(json.value, budget) } : json;
  };
}

function describeRule({ field, path, name, operator, value }: Rule): string {
  const subject = [field, path ?? name].filter(Boolean).join(' ');
  return `${subject} ${operator}${value === undefined ? '' : ` ${quote(value)}`}`;
}
