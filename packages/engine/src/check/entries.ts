import { expiryOf, readImage } from '../item-writer.ts';
import type { Tx } from '../storage/committer.ts';
import { head, indexKey, space, tokenExpiryKey, ttlItemKey, ttlSeconds } from '../storage/keys.ts';
import { decodeJson } from '../storage/store.ts';
import type { Index, Table } from '../storage/table.ts';
import { tokenOf } from '../token-sweeper.ts';
import { attempt, type Check } from './findings.ts';

// The other direction: every entry must belong to an item.

export function checkIndexEntry(check: Check, table: Table, index: Index, key: Buffer, base: Buffer): void {
  if (index.status === 'DELETING') return;
  const isItemKey = base.subarray(0, 5).equals(head(space.item, table.id));
  const image = isItemKey ? attempt(() => readImage(check.store, base)) : undefined;
  if (!image) {
    // The item may be there, and be damaged.
    const fix = check.store.has(base) ? undefined : removing(key);
    check.add('index', key, `an entry of the index ${index.name} has no item`, table.name, fix);
  } else if (!indexKey(index, image.item, base)?.equals(key)) {
    check.add(
      'index',
      key,
      `an entry of the index ${index.name} disagrees with its item`,
      table.name,
      removing(key),
    );
  }
}

const removing = (key: Buffer) => (tx: Pick<Tx, 'remove'>) => tx.remove(key);

export function checkExpiryEntry(check: Check, table: Table, key: Buffer): void {
  const image = attempt(() => readImage(check.store, ttlItemKey(key)));
  if (!table.ttl) {
    check.add('ttl', key, 'a TTL entry of a table without TTL', table.name, removing(key));
  } else if (!image) {
    const fix = check.store.has(ttlItemKey(key)) ? undefined : removing(key);
    check.add('ttl', key, 'a TTL entry has no item', table.name, fix);
  } else if (expiryOf(image.item[table.ttl.attribute]) !== ttlSeconds(key)) {
    check.add('ttl', key, 'a TTL entry disagrees with its item', table.name, removing(key));
  }
}

type TokenRecord = { expiresAt: number };

export function checkToken(check: Check, key: Buffer, bytes: Buffer): void {
  const record = attempt(() => decodeJson(bytes, bytes.length) as TokenRecord);
  if (!record || !Number.isSafeInteger(record.expiresAt)) {
    check.add('token', key, 'a token cannot be read');
  } else if (!check.store.has(tokenExpiryKey(record.expiresAt, key))) {
    check.add('token', key, 'a token is missing from the expiry index');
  }
}

export function checkTokenExpiry(check: Check, key: Buffer): void {
  const token = attempt(() => check.store.get(tokenOf(key), decodeJson) as TokenRecord | undefined);
  if (token?.expiresAt === key.readUIntBE(1, 6)) return;
  check.add('token', key, 'an expiry entry disagrees with its token');
}
