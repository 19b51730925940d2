import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from './context.ts';
import { after, space } from './storage/keys.ts';
import { checkPages, findSpanDamage } from './storage/page-check.ts';
import { isSound } from './storage/soundness.ts';
import { copyBytes } from './storage/store.ts';

// Reads a whole store at a bounded rate, and verifies every page and every checksum. What no request reads would
// otherwise be found damaged when it is too late: when the copies that could repair it are gone.

export type ScrubOptions = {
  bytesPerSecond: number;
  signal: AbortSignal;
  // Called for each page, or each key, that is not as it was written.
  onDamage(what: string): void;
};

const pieceBytes = 128 * 1024;
const describedDamage = 100;
const pastAll = Buffer.from([0xff]);

/** Resolves to the number of bytes that were verified. */
export async function scrubStore({ store, catalog }: Context, options: ScrubOptions): Promise<number> {
  const { bytesPerSecond, signal, onDamage } = options;
  let verified = 0;
  let named = 0;
  const name = (what: string) => {
    if (++named <= describedDamage) onDamage(what);
  };
  const rest = async (bytes: number) => {
    verified += bytes;
    await sleep((1000 * bytes) / bytesPerSecond, undefined, { signal });
  };

  const file = openSync(store.file, 'r');
  try {
    const { damage, unread } = checkPages(file, { mostLeafPages: 0 });
    for (const { page, message } of damage) name(`page ${page}: ${message}`);
    if (damage.length > 0) return verified;
    const bytesOfSpan = store.bytes() / Math.max(1, unread.length);
    for (const span of unread) {
      const damage = findSpanDamage(file, span);
      for (const { page, message } of damage) name(`page ${page}: ${message}`);
      await rest(bytesOfSpan);
    }
    if (named > 0) return verified; // LMDB would trust them
  } finally {
    closeSync(file);
  }

  const tables = new Map(catalog.all().map(table => [table.id, table.name]));
  for (let start: Buffer | undefined = Buffer.from([0]); start; ) {
    signal.throwIfAborted();
    let bytes = 0;
    let last: Buffer | undefined;
    store.refresh();
    for (const { key, value } of store.range({ start, end: pastAll }, copyBytes)) {
      last = key;
      bytes += key.length + value.length;
      if (!isSound(key, value)) {
        const table = key[0] === space.item ? tables.get(key.readUInt32BE(1)) : undefined;
        name(`key ${key.toString('hex')}${table === undefined ? '' : ` of the table ${table}`}`);
      }
      if (bytes >= pieceBytes) break;
    }
    start = last && after(last);
    await rest(bytes);
  }
  return verified;
}
