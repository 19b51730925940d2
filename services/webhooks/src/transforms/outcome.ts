import type { Reply } from '@stak/sandbox';
import type { HeaderPair } from '../filters/request-view.ts';

export type TransformFailureReason =
  | 'not_json' // a mapping needs a body with structure
  | 'invalid' // a script that does not compile, or has no transform function
  | 'threw'
  | 'time_limit'
  | 'memory_limit'
  | 'stack_limit'
  | 'never_settles' // a promise that nothing can resolve
  | 'output_invalid'
  | 'output_too_large'
  | 'crashed' // the sandbox itself
  | 'busy'; // too much is waiting for the sandbox: try again later

export type TransformFailure = { ok: false; reason: TransformFailureReason; message: string };

export type TransformOutcome =
  | {
      ok: true;
      dropped: false;
      body: Uint8Array;
      contentType?: string; // undefined: that of the request
      headers?: readonly HeaderPair[]; // undefined: those of the request
    }
  | { ok: true; dropped: true } // the script answered null: this event is not for the destination
  | TransformFailure;

// Why the sandbox gave no result.
export const toFailure = ({ reason, message }: Extract<Reply, { ok: false }>): TransformFailure => ({
  ok: false,
  reason: reason === 'too_large' ? 'output_too_large' : reason,
  message,
});
