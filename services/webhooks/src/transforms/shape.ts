import type { Budget } from '../filters/budget.ts';
import type { RequestView } from '../filters/request-view.ts';
import { compileFieldMap } from './field-map.ts';
import type { TransformOutcome } from './outcome.ts';
import type { Transform } from './schema.ts';

export type Shape = (view: RequestView, budget?: Budget) => TransformOutcome;

// A transform that needs no interpreter. Throws only OverBudget.
export function compileShape(transform: Exclude<Transform, { type: 'javascript' }>): Shape {
  return transform.type === 'passthrough'
    ? view => ({ ok: true, dropped: false, body: view.body })
    : compileFieldMap(transform);
}
