import { createBudget, OverBudget } from './filters/budget.ts';
import { compileFilter, type Filter } from './filters/filter.ts';
import * as limits from './filters/limits.ts';
import { type HeaderPair, viewRequest } from './filters/request-view.ts';
import type { Filters } from './filters/schema.ts';
import type { TransformOutcome } from './transforms/outcome.ts';
import type { Transform } from './transforms/schema.ts';
import { compileShape, type Shape } from './transforms/shape.ts';

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
  | { matched: boolean; steps: string; shaped?: string; body?: Uint8Array }
  | { overBudget: true };

const filters = new Map<string, Filter>();
const shapes = new Map<string, Shape>();

// A thread lives for minutes and works for everybody: what it remembers is bounded.
function remember<Made>(known: Map<string, Made>, text: string, make: () => Made): Made {
  const before = known.get(text);
  if (before !== undefined) return before;
  if (known.size >= 50) known.clear();
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
    const shape = remember(shapes, input.transform, () =>
      compileShape(JSON.parse(input.transform) as Exclude<Transform, { type: 'javascript' }>),
    );
    return { ...answer, ...separate(shape(view, budget), input.body) };
  } catch (error) {
    if (error instanceof OverBudget) return { overBudget: true };
    throw error;
  }
}

// Bytes travel as they are, and only if they are others.
function separate(outcome: TransformOutcome, received: Uint8Array): { shaped: string; body?: Uint8Array } {
  if (!outcome.ok || outcome.dropped) return { shaped: JSON.stringify(outcome) };
  const { body, ...rest } = outcome;
  return body === received
    ? { shaped: JSON.stringify(rest) }
    : { shaped: JSON.stringify(rest), body: new Uint8Array(body) };
}
