/** A value that may be known already. */
// A promise for it would cost every request a turn of the event loop's queue and some garbage, so what is known is
// handed over as it is.
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with the value: at once if it is known, otherwise when its promise resolves. */
export const whenKnown = <A, B>(
  value: MaybePromise<A>,
  next: (value: A) => MaybePromise<B>,
): MaybePromise<B> => (value instanceof Promise ? value.then(next) : next(value));
