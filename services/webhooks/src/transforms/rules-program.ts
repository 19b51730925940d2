import { createRecentMap, type RecentMap } from '@stak/kit/recent-map';
import { createBudget, OverBudget } from '../filters/budget.ts';
import { compileFilter, type Filter } from '../filters/filter.ts';
import * as limits from '../filters/limits.ts';
import { type HeaderPair, viewRequest } from '../filters/request-view.ts';
import type { Filters } from '../filters/schema.ts';
import type { Transform } from './schema.ts';
import { type CompiledTransform, compileTransform, type TransformOutcome } from './transform.ts';

// Evaluates the rules of a connection, in a thread of the sandbox.

export type RulesInput = {
  filters: string; // JSON; empty to evaluate none
  transform: string; // JSON; empty to evaluate none
  trace: boolean;
  method: string;
  headers: string; // JSON
  query: string;
  body: Uint8Array;
};

export type RulesOutput =
  | { matched: boolean; steps: string; transformed?: string; body?: Uint8Array }
  | { overBudget: true };

// A thread lives for minutes and serves all accounts, so its caches are bounded.
const filters = createRecentMap<string, Filter>(limits.sandboxRules);
const transforms = createRecentMap<string, CompiledTransform>(limits.sandboxRules);

function remember<Made>(known: RecentMap<string, Made>, text: string, make: () => Made): Made {
  const before = known.get(text);
  if (before !== undefined) return before;
  const made = make();
  known.set(text, made);
  return made;
}

export function run(input: RulesInput): RulesOutput {
  const view = viewRequest({
    method: input.method,
    headers: JSON.parse(input.headers) as HeaderPair[],
    query: input.query,
    body: input.body,
  });
  const budget = createBudget(limits.sandboxUnits);
  try {
    const filter =
      input.filters === ''
        ? undefined
        : remember(filters, input.filters, () => compileFilter(JSON.parse(input.filters) as Filters));
    const { matched, steps } = filter?.(view, { trace: input.trace, budget }) ?? { matched: true, steps: [] };
    const answer = { matched, steps: JSON.stringify(steps) };
    if (!matched || input.transform === '') return answer;
    const transform = remember(transforms, input.transform, () =>
      compileTransform(JSON.parse(input.transform) as Exclude<Transform, { type: 'javascript' }>),
    );
    return { ...answer, ...separate(transform(view, budget), input.body) };
  } catch (error) {
    if (error instanceof OverBudget) return { overBudget: true };
    throw error;
  }
}

// The body is sent as bytes, and only if it has changed.
function separate(
  outcome: TransformOutcome,
  received: Uint8Array,
): { transformed: string; body?: Uint8Array } {
  if (!outcome.ok || outcome.dropped) return { transformed: JSON.stringify(outcome) };
  const { body, ...rest } = outcome;
  return body === received
    ? { transformed: JSON.stringify(rest) }
    : { transformed: JSON.stringify(rest), body: new Uint8Array(body) };
}
