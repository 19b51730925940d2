import { sliceMs } from './limits.ts';

const waiting: (() => void)[] = [];
let busySinceMs: number | undefined; // when the long work of this iteration of the event loop began

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
  busySinceMs = undefined;
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(continueOne);
}

/**
 * For long work in small pieces, between two of them: yields if such work, of all callers together, has taken some
 * milliseconds of this iteration of the event loop.
 *
 *     for (const body of bodies) {
 *       search(body);
 *       await yieldIfBusy();
 *     }
 */
export function yieldIfBusy(): Promise<void> | undefined {
  const nowMs = performance.now();
  if (busySinceMs === undefined) {
    busySinceMs = nowMs;
    setImmediate(() => {
      busySinceMs = undefined;
    });
  }
  return nowMs - busySinceMs < sliceMs ? undefined : yieldToEventLoop();
}

/**
 * Lets so many callers continue in one iteration of the event loop, in order of arrival. For thousands that all wake at
 * once: together they would hold up every request for a second.
 *
 *     const joinBatch = createBatches(20);
 *     await woken;
 *     await joinBatch();
 */
export function createBatches(most: number): () => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let taken = 0;
  const next = () => {
    const continued = waiting.splice(0, most);
    taken = continued.length;
    for (const resolve of continued) resolve();
    if (taken > 0) setImmediate(next);
  };
  return () => {
    if (taken >= most) return new Promise(resolve => waiting.push(resolve));
    if (taken === 0) setImmediate(next);
    taken += 1;
    return undefined;
  };
}

/** Like `map`, and yields after each batch. */
export async function mapInBatches<T, R>(
  all: readonly T[],
  batchSize: number,
  change: (item: T) => R,
): Promise<R[]> {
  const changed: R[] = [];
  for (const item of all) {
    if (changed.length > 0 && changed.length % batchSize === 0) await yieldToEventLoop();
    changed.push(change(item));
  }
  return changed;
}
