import type { Clock } from './clock.ts';
import { idCountDigits, idRandomDigits, idTimeDigits } from './limits.ts';
import { type Random, systemRandom } from './random.ts';

/** Generates ids that sort by their time. */
export type Ids = {
  // `next()` returns `0mjuxvy9s00…`, `next('evt')` returns `evt_0mjuxvy9s00…`. Not a secret: an id reveals its time.
  next(prefix?: string): string;
};

const digits = '0123456789abcdefghijklmnopqrstuvwxyz';
const digitPairs = [...digits].flatMap(first => [...digits].map(second => first + second));
const countsPerMs = 36 ** idCountDigits;
const idShape = new RegExp(
  `^(?:[a-z][a-z0-9]*_)?[0-9a-z]{${idTimeDigits + idCountDigits + idRandomDigits}}$`,
);
const prefixShape = /^[a-z][a-z0-9]*$/;

const inBase36 = (value: number, width: number): string => value.toString(36).padStart(width, '0');

/**
 * Generates ids that sort as text in the order of their creation, and differ between processes without configuration.
 *
 *     const ids = createIds({ clock: systemClock });
 *     ids.next('evt'); // evt_0mjuxvy9s00…
 */
// The time, then a count within the millisecond, then a random part that distinguishes processes.
export function createIds({
  clock,
  random = systemRandom,
  from,
}: {
  clock: Pick<Clock, 'now'>;
  random?: Random;
  from?: string; // an id: the first one has its time and count, so it sorts among ids of the generator of this one
}): Ids {
  let lastMs = -1;
  let count = 0;
  let time = '';

  const moveTo = (ms: number) => {
    lastMs = ms;
    count = 0;
    time = inBase36(ms, idTimeDigits);
  };
  const advance = (): string => {
    const nowMs = clock.now();
    if (nowMs > lastMs) moveTo(nowMs);
    // More ids than counts in this millisecond, or the clock stepped back for long: borrow the next one.
    else if (++count === countsPerMs) moveTo(lastMs + 1);
    return time + inBase36(count, idCountDigits);
  };

  const fromMs = from === undefined ? undefined : timeOf(from);
  if (from !== undefined && fromMs !== undefined) {
    const start = from.indexOf('_') + 1 + idTimeDigits;
    moveTo(fromMs);
    count = Number.parseInt(from.slice(start, start + idCountDigits), 36) - 1;
  }

  return {
    next(prefix) {
      if (prefix !== undefined && !prefixShape.test(prefix))
        throw new TypeError(`"${prefix}" is not a valid id prefix`);
      const head = advance();
      let id = prefix === undefined ? head : `${prefix}_${head}`;
      // Two digits from one random number: every request has an id, and most of its cost is in these.
      for (let i = 1; i < idRandomDigits; i += 2) id += digitPairs[Math.floor(random() * 1296)];
      return idRandomDigits % 2 === 0 ? id : id + digits[Math.floor(random() * 36)];
    },
  };
}

/** The millisecond in which an id was created; undefined for text that does not have the form of an id. */
export function timeOf(id: string): number | undefined {
  if (!idShape.test(id)) return undefined;
  const start = id.indexOf('_') + 1;
  return Number.parseInt(id.slice(start, start + idTimeDigits), 36);
}
