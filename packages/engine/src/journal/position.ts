import { randomBytes } from 'node:crypto';
import type { Tx } from '../storage/committer.ts';
import { metaKey } from '../storage/keys.ts';
import { encodeJson, readMeta, type Store } from '../storage/store.ts';

// The end of the journal, stored in LMDB by the transaction whose record is the last one. A record of a transaction
// that failed, or of a process that was killed in between, lies after the end and is overwritten.
export type JournalEnd = {
  commit: number;
  // When that commit was made; never earlier than the one before.
  at: number;
  // LMDB's number of the transaction that wrote this. Something that writes past the journal does not update it.
  txn: number;
  chain: number;
  file: number;
  offset: number;
  // The transaction at which a checkpoint was last begun, by any process.
  checkpoint: number;
};

/** A position in the journal of a store, after the commit with the number `commit`. */
export type JournalCursor = { history: string; commit: number; chain: number; file: number; offset: number };

/** The end of the journal of a store that is backed up. */
export type JournalPosition = JournalCursor & {
  // When the last commit was made.
  at: number;
  // The beginning of this history.
  start: JournalCursor;
  limitBytes: number;
};

// A history is an unbroken sequence of commits for a backup to ship. After a gap, a new one starts.
export type Shipping = { start: JournalCursor; limitBytes: number };

const endName = 'commit';
const shippingName = 'shipping';
const endKey = metaKey(endName);
const endBytes = 44;

const decodeEnd = (bytes: Buffer): JournalEnd => ({
  commit: bytes.readDoubleBE(0),
  at: bytes.readDoubleBE(8),
  txn: bytes.readDoubleBE(16),
  chain: bytes.readUInt32BE(24),
  file: bytes.readUInt32BE(28),
  offset: bytes.readUInt32BE(32),
  checkpoint: bytes.readDoubleBE(36),
});

const decodeCommit = (bytes: Buffer): number => bytes.readDoubleBE(0);

type Reads = Pick<Store, 'get'>;

export const readEnd = (store: Reads): JournalEnd | undefined => store.get(endKey, decodeEnd);

export const readCommit = (store: Reads): number => store.get(endKey, decodeCommit) ?? 0;

export function saveEnd(store: Pick<Store, 'put'>, end: JournalEnd): void {
  const bytes = Buffer.allocUnsafe(endBytes);
  bytes.writeDoubleBE(end.commit, 0);
  bytes.writeDoubleBE(end.at, 8);
  bytes.writeDoubleBE(end.txn, 16);
  bytes.writeUInt32BE(end.chain, 24);
  bytes.writeUInt32BE(end.file, 28);
  bytes.writeUInt32BE(end.offset, 32);
  bytes.writeDoubleBE(end.checkpoint, 36);
  store.put(endKey, bytes);
}

export const readShipping = (store: Reads): Shipping | undefined => readMeta<Shipping>(store, shippingName);

// In the journal like any other change.
export const saveShipping = (tx: Pick<Tx, 'put'>, shipping: Shipping): void =>
  tx.put(metaKey(shippingName), encodeJson(shipping));

export const dropShipping = (tx: Pick<Tx, 'remove'>): void => tx.remove(metaKey(shippingName));

export function newHistory(nowMs: number): string {
  const stamp = new Date(nowMs).toISOString().replace(/[-:.]/g, '');
  return `${stamp}-${randomBytes(4).toString('hex')}`;
}

export function readPosition(store: Reads): JournalPosition | undefined {
  const shipping = readShipping(store);
  const end = shipping && readEnd(store);
  if (!end) return undefined;
  const { commit, at, chain, file, offset } = end;
  return { ...shipping, history: shipping.start.history, commit, at, chain, file, offset };
}

// The names of facts about this file's journal, which mean nothing in a copy.
export const ownNames: readonly string[] = [endName, shippingName];

// The name under which a snapshot carries its position.
export const snapshotPositionName = 'journal';
