import { closeSync, openSync } from 'node:fs';
import { internalError } from '../errors.ts';
import { describeDamage } from './file.ts';
import type { KeyRange } from './keys.ts';
import { findSpanDamage, type KeySpan } from './page-check.ts';

// A store above 16 MB is opened before all of its pages were verified, and LMDB would end the process at a damaged one.
// So until each has been verified, every read and write first asks this guard for its key: the pages of some hundred
// thousand keys around it are verified then. A page that LMDB writes later is made from verified ones.

export type PageGuard = ReturnType<typeof createPageGuard>;

/** `whenDone` is called when everything was verified. */
export function createPageGuard(file: string, spans: readonly KeySpan[], whenDone: () => void) {
  const handle = openSync(file, 'r');
  const verified = new Uint8Array(spans.length);
  let left = spans.length;
  let isClosed = false;
  let nextSpan = 0;

  function verify(n: number): void {
    if (n < 0 || n >= spans.length || verified[n] || isClosed) return;
    const damage = describeDamage(file, findSpanDamage(handle, spans[n]!));
    if (damage) throw internalError(damage);
    verified[n] = 1;
    if (--left > 0) return;
    close();
    whenDone();
  }

  function close(): void {
    if (!isClosed) closeSync(handle);
    isClosed = true;
  }

  // The last span that begins at or before a key; -1 if there is none.
  function spanOf(key: Uint8Array): number {
    let [low, high] = [0, spans.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const from = spans[middle]!.low;
      if (!from || Buffer.compare(from, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  return {
    beforeRead: (key: Uint8Array): void => verify(spanOf(key)),
    // A removal may join a page with one of its neighbours.
    beforeWrite(key: Uint8Array): void {
      const n = spanOf(key);
      for (let span = n - 1; span <= n + 1; span++) verify(span);
    },
    // A range in parts, each verified when it is asked for.
    *partsOf<R extends KeyRange & { reverse?: boolean }>(range: R): Generator<R> {
      const { start, end, reverse } = range;
      const first = Math.max(0, spanOf(start));
      const last = Math.max(0, spanOf(end));
      for (let n = reverse ? last : first; reverse ? n >= first : n <= last; n += reverse ? -1 : 1) {
        verify(n);
        const from = n === first ? start : spans[n]!.low!;
        yield { ...range, start: from, end: n === last ? end : spans[n + 1]!.low! };
      }
    },
    /** Verifies some pages more. False if there are none left. */
    step(): boolean {
      while (nextSpan < spans.length && verified[nextSpan]) nextSpan++;
      if (nextSpan < spans.length) verify(nextSpan++);
      return nextSpan < spans.length && !isClosed;
    },
    close,
  };
}
