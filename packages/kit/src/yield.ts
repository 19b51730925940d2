const waiting: (() => void)[] = [];

/**
 * For long work: lets requests, timers and other work run in between. Only one piece of long work continues in each
 * iteration of the event loop, because several at once would delay everything else by the sum of their pieces.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise(resolve => {
    if (waiting.push(resolve) === 1) setImmediate(continueOne);
  });
}

function continueOne(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(continueOne);
}

/** Like `map`, and yields after each batch. */
export async function mapInBatches<T, R>(
  all: readonly T[],
  batchSize: number,
  change: (one: T) => R,
): Promise<R[]> {
  const changed: R[] = [];
  for (const one of all) {
    if (changed.length > 0 && changed.length % batchSize === 0) await yieldToEventLoop();
    changed.push(change(one));
  }
  return changed;
}
