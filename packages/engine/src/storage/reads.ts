import type { Database, RangeOptions as LmdbRange, RootDatabase } from 'lmdb';
import { ItemDamage } from '../errors.ts';
import { isWholeItem } from './codec.ts';
import type { PageGuard } from './page-guard.ts';
import type { Decode, Entry, RangeOptions } from './store.ts';

export type Encoder = { encode(value: Buffer): Buffer; decode(bytes: Buffer, end?: unknown): unknown };

export type Db = RootDatabase<unknown, Buffer> & Database;

// LMDB's own. Its declarations do not pass the strictest checks, and those of the engine lead here.
type Transaction = { done(): void };

// For callers that need only the key.
export const nothing: Decode<true> = () => true;

// Opens the file and reads from it, each value with the decoder of its caller.
export function openReads(openWith: (encoder: Encoder) => Db, guardNow: () => PageGuard | undefined) {
  // The decoder of the current read. Reads are synchronous, so one slot is enough, and values are decoded from LMDB's
  // shared buffer without being copied first.
  let decode: Decode<unknown> = nothing;
  const db = openWith({
    encode: (value: Buffer) => value,
    decode: (bytes: Buffer, end?: unknown) => decode(bytes, typeof end === 'number' ? end : bytes.length),
  });

  // LMDB copies the key of every entry it passes through this method.
  let wantsKeys = true;
  const ranges = db as unknown as {
    readKey(bytes: Uint8Array, start: number, end: number): Buffer | undefined;
  };
  const { readKey } = ranges;
  ranges.readKey = (bytes, start, end) => (wantsKeys ? readKey(bytes, start, end) : undefined);

  function get<T>(key: Buffer, as: Decode<T>): T | undefined {
    guardNow()?.beforeRead(key);
    decode = as;
    try {
      return db.get(key) as T | undefined;
    } catch (error) {
      throw error instanceof ItemDamage ? new ItemDamage(key) : error;
    }
  }

  const iterate = ({ start, end, reverse }: RangeOptions, transaction?: Transaction) => {
    const options: LmdbRange = reverse
      ? { start: end, end: start, reverse: true, exclusiveStart: true, inclusiveEnd: true }
      : { start, end };
    if (transaction) options.transaction = transaction;
    return db.getRange(options)[Symbol.iterator]();
  };

  // Iterators are used within one turn of the event loop: callers finish them or break.
  function range<T>(options: RangeOptions, as: Decode<T>, transaction?: Transaction): Generator<Entry<T>> {
    const guard = guardNow();
    return guard
      ? rangeInParts(guard.partsOf(options), as, transaction)
      : rangePart(options, as, transaction);
  }

  function* rangeInParts<T>(
    parts: Iterable<RangeOptions>,
    as: Decode<T>,
    transaction?: Transaction,
  ): Generator<Entry<T>> {
    for (const part of parts) yield* rangePart(part, as, transaction);
  }

  function* rangePart<T>(
    options: RangeOptions,
    as: Decode<T>,
    transaction?: Transaction,
  ): Generator<Entry<T>> {
    const entries = iterate(options, transaction);
    try {
      while (true) {
        decode = as;
        const next = entries.next();
        if (next.done) return;
        yield next.value as Entry<T>;
      }
    } finally {
      entries.return?.();
    }
  }

  // The same without a generator and without the keys, for Query and Scan: continues while `visit` returns true.
  function each<T>(options: RangeOptions, as: Decode<T>, visit: (value: T) => boolean): void {
    const guard = guardNow();
    if (!guard) return void eachOfPart(options, as, visit);
    for (const part of guard.partsOf(options)) if (!eachOfPart(part, as, visit)) return;
  }

  // False if it was ended.
  function eachOfPart<T>(options: RangeOptions, as: Decode<T>, visit: (value: T) => boolean): boolean {
    wantsKeys = false;
    const entries = iterate(options);
    try {
      while (true) {
        decode = as;
        const next = entries.next();
        if (next.done) return true;
        if (!visit(next.value.value as T)) return false;
      }
    } catch (error) {
      wantsKeys = true;
      throw error instanceof ItemDamage && !error.key ? new ItemDamage(firstDamaged(options)) : error;
    } finally {
      wantsKeys = true;
      entries.return?.();
    }
  }

  function firstDamaged(options: RangeOptions): Buffer | undefined {
    for (const { key, value: isWhole } of range(options, isWholeItem)) if (!isWhole) return key;
    return undefined;
  }

  return { db, get, range, each };
}
