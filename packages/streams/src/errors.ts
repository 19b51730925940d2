import { defineErrors } from '@stak/kit';

/** The errors of this package. */
export const streamErrors = defineErrors({
  'streams.consumer_unknown': 404,
});

/** Thrown by a handler when retrying is of no use: the record becomes a dead letter at once. */
export class PermanentError extends Error {
  override readonly name: string = 'PermanentError';
}

// Another process has taken over the shard. This process must write nothing more about it.
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}
