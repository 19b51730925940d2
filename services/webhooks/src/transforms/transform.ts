import type { Reply } from '@stak/sandbox';
import type { Budget } from '../filters/budget.ts';
import type { HeaderPair, RequestView } from '../filters/request-view.ts';
import { compileFieldMap } from './field-map.ts';
import type { Transform } from './schema.ts';

export type TransformFailureReason =
  | 'not_json' // a mapping needs a JSON body
  | 'invalid' // a script that does not compile, or has no transform function
  | 'threw'
  | 'time_limit'
  | 'memory_limit'
  | 'stack_limit'
  | 'never_settles' // a promise that nothing can resolve
  | 'output_invalid'
  | 'output_too_large'
  | 'crashed' // the sandbox itself
  | 'busy'; // the sandbox has too much waiting, or the machine too little time: try again later

export type TransformFailure = { ok: false; reason: TransformFailureReason; message: string };

export type TransformOutcome =
  | {
      ok: true;
      dropped: false;
      body: Uint8Array;
      contentType?: string; // undefined for that of the request
      headers?: readonly HeaderPair[]; // undefined for those of the request
    }
  | { ok: true; dropped: true } // the script returned null
  | TransformFailure;

// For a reply of the sandbox without a result.
export const toFailure = ({ reason, message }: Extract<Reply, { ok: false }>): TransformFailure => ({
  ok: false,
  reason: reason === 'too_large' ? 'output_too_large' : reason,
  message,
});

export type CompiledTransform = (view: RequestView, budget?: Budget) => TransformOutcome;

// A transform that needs no interpreter. Throws only OverBudget.
export function compileTransform(transform: Exclude<Transform, { type: 'javascript' }>): CompiledTransform {
  return transform.type === 'passthrough'
    ? view => ({ ok: true, dropped: false, body: view.body })
    : compileFieldMap(transform);
}
