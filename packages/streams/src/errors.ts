import { defineErrors } from '@stak/kit';

/** The errors of this package. */
export const streamErrors = defineErrors({
  'streams.consumer_unknown': 404,
});

/** Thrown by a handler that knows trying again is of no use: the record is set aside at once. */
export class HopelessError extends Error {
  override readonly name: string = 'HopelessError';
}

// Another process has taken the shard over. Whatever this one still wanted to write about it must not be written.
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}
