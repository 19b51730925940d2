import type { Context } from './context.ts';
import { expiryOf, readImage, writeChange } from './item-writer.ts';
import type { Tx } from './storage/committer.ts';
import { head, space, ttlItemKey, ttlKey, ttlSeconds } from './storage/keys.ts';
import type { Table } from './storage/table.ts';
import { trimLog } from './streams/trim.ts';
import { forgetTokens } from './token-sweeper.ts';

// Removes expired items, change records older than a day, and responses of old transactions. Each walks an index in
// order of time and stops at the present, so its cost depends on what is removed.

const itemsPerTransaction = 100;
const fiveYearsSeconds = 5 * 365 * 24 * 60 * 60;

export async function sweepExpired(context: Context, { limit }: { limit: number }): Promise<number> {
  const removed = await removeExpiredItems(context, limit);
  await trimLog(context);
  await forgetTokens(context);
  return removed;
}

// The tables take turns, so that one with much to remove does not delay the others.
async function removeExpiredItems(context: Context, limit: number): Promise<number> {
  let tables = context.catalog.list().filter(table => table.ttl?.status === 'ENABLED');
  let removed = 0;
  while (tables.length > 0 && removed < limit) {
    const unfinished: Table[] = [];
    for (const table of tables) {
      const wanted = Math.min(itemsPerTransaction, limit - removed);
      const keys = expiredKeys(context, table.id, wanted);
      if (keys.length === 0) continue;
      const done = await context.submit(tx => removeItems(context, tx, table.id, keys));
      removed += done ?? 0;
      if (done !== undefined && keys.length === wanted) unfinished.push(table);
    }
    tables = unfinished;
  }
  return removed;
}

// An item expires when its time is in the past, but DynamoDB ignores a time more than five years back: that is more
// often a mistake than an expiry.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-before-you-start.html
function expiredKeys(context: Context, tableId: number, limit: number): Buffer[] {
  const now = Math.ceil(context.now() / 1000);
  const keys: Buffer[] = [];
  const range = { start: boundary(tableId, now - fiveYearsSeconds), end: boundary(tableId, now) };
  for (const { key } of context.store.keys(range)) {
    keys.push(key);
    if (keys.length === limit) break;
  }
  return keys;
}

const boundary = (tableId: number, seconds: number): Buffer =>
  ttlKey(tableId, Math.max(0, seconds), head(space.item, tableId));

// Undefined when the table no longer has a TTL to enforce.
function removeItems(context: Context, tx: Tx, tableId: number, keys: Buffer[]): number | undefined {
  const table = context.catalog.findById(tableId);
  if (table?.ttl?.status !== 'ENABLED') return undefined;
  const now = context.now();
  let removed = 0;
  for (const entry of keys) {
    const key = ttlItemKey(entry);
    const before = readImage(context.store, key);
    if (before && expiryOf(before.item[table.ttl.attribute]) === ttlSeconds(entry)) {
      writeChange(tx, { table, key, before, actor: 'ttl', now });
      removed++;
    } else {
      // The item was written in the meantime, and its writer has moved the entry; removing it again is harmless.
      tx.remove(entry);
    }
  }
  return removed;
}
