/** A value, or a promise of it. */
// A promise would cost every request a microtask and some garbage, so a known value is passed directly.
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with the value: at once if it is known, otherwise when its promise resolves. */
export const whenKnown = <A, B>(
  value: MaybePromise<A>,
  next: (value: A) => MaybePromise<B>,
): MaybePromise<B> => (value instanceof Promise ? value.then(next) : next(value));
