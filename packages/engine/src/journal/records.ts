import { crc32 } from 'node:zlib';

// The bytes of the journal. A commit is one record: everything that one LMDB transaction put and removed, as keys and
// values of the file. Applying all records in order recreates the store.
//
//   record     length (4) | chain (4) | number (6) | time (8) | operations
//   operation  length of the key (2) | length of the value (4), or FFFFFFFF for a removal | key | value
//
// A change record ends with the item that was put before it. If a value ends like the last large one that was stored
// whole, its length has the highest bit set and only the rest of it is stored: half of the bytes to write, ship and
// read.
//
// `chain` is the CRC of the record, starting with the CRC of the one before: a record that is damaged, missing or from
// another store breaks it.

export type JournalRecord = { commit: number; at: number; chain: number; operations: Buffer };

export const recordHead = 22;
const removal = 0xffffffff;
const operationHead = 6;
const repeats = 0x80000000;
const largeBytes = 128;
const smallestBytes = 64 * 1024;
const keptBytes = 1024 * 1024; // after a large commit

// The operations of one transaction, collected in a reused buffer.
export function createRecordBuilder() {
  let bytes = Buffer.allocUnsafe(smallestBytes);
  let end = recordHead;
  let large = { start: 0, end: 0 }; // the last large value

  // How many bytes of a value must be stored before the part that repeats the last large one.
  function ownBytes(value: Uint8Array): number {
    const own = value.length - (large.end - large.start);
    if (large.end === 0 || own < 0) return value.length;
    return bytes.compare(value, own, value.length, large.start, large.end) === 0 ? own : value.length;
  }

  function reserve(more: number): void {
    if (end + more <= bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, end + more));
    bytes.copy(larger, 0, 0, end);
    bytes = larger;
  }

  return {
    clear(): void {
      if (bytes.length > keptBytes) bytes = Buffer.allocUnsafe(smallestBytes);
      end = recordHead;
      large = { start: 0, end: 0 };
    },
    isEmpty: () => end === recordHead,
    put(key: Uint8Array, value: Uint8Array): void {
      const own = ownBytes(value);
      const isWhole = own === value.length;
      reserve(operationHead + key.length + own);
      bytes.writeUInt16BE(key.length, end);
      bytes.writeUInt32BE(isWhole ? own : repeats + own, end + 2);
      bytes.set(key, end + operationHead);
      const start = end + operationHead + key.length;
      bytes.set(isWhole ? value : value.subarray(0, own), start);
      end = start + own;
      if (isWhole && own >= largeBytes) large = { start, end };
    },
    remove(key: Uint8Array): void {
      reserve(operationHead + key.length);
      bytes.writeUInt16BE(key.length, end);
      bytes.writeUInt32BE(removal, end + 2);
      bytes.set(key, end + operationHead);
      end += operationHead + key.length;
    },
    // Valid until the next call of any function here.
    operations: (): Buffer => bytes.subarray(recordHead, end),
    seal(commit: number, at: number, previous: number): { record: Buffer; chain: number } {
      bytes.writeUInt32BE(end, 0);
      bytes.writeUIntBE(commit, 8, 6);
      bytes.writeDoubleBE(at, 14);
      const chain = crc32(bytes.subarray(8, end), previous);
      bytes.writeUInt32BE(chain, 4);
      return { record: bytes.subarray(0, end), chain };
    },
  };
}

// The record at `offset`. Undefined if it is incomplete; throws if it does not follow the one before.
export function readRecord(
  bytes: Buffer,
  offset: number,
  previous: { commit: number; chain: number },
): JournalRecord | undefined {
  if (bytes.length - offset < recordHead) return undefined;
  const length = bytes.readUInt32BE(offset);
  if (length < recordHead) throw new JournalDamage(`commit ${previous.commit + 1} cannot be read`);
  if (bytes.length - offset < length) return undefined;
  const commit = bytes.readUIntBE(offset + 8, 6);
  if (commit !== previous.commit + 1)
    throw new JournalDamage(`commit ${previous.commit + 1} is missing: ${commit} follows`);
  const chain = crc32(bytes.subarray(offset + 8, offset + length), previous.chain);
  if (chain !== bytes.readUInt32BE(offset + 4)) throw new JournalDamage(`commit ${commit} is damaged`);
  return {
    commit,
    at: bytes.readDoubleBE(offset + 14),
    chain,
    operations: bytes.subarray(offset + recordHead, offset + length),
  };
}

/** The journal of a store cannot be read further: a commit is damaged or missing. */
export class JournalDamage extends Error {
  override readonly name = 'JournalDamage';
}

export type Operation = { key: Buffer; value?: Buffer }; // without a value it is a removal

export function* readOperations(bytes: Buffer): Generator<Operation> {
  let large: Buffer = Buffer.alloc(0);
  for (let at = 0; at < bytes.length; ) {
    if (bytes.length - at < operationHead) throw new JournalDamage('operations are cut short');
    const keyEnd = at + operationHead + bytes.readUInt16BE(at);
    const length = bytes.readUInt32BE(at + 2);
    const end = length === removal ? keyEnd : keyEnd + (length % repeats);
    if (end > bytes.length) throw new JournalDamage('operations are cut short');
    const key = bytes.subarray(at + operationHead, keyEnd);
    const own = bytes.subarray(keyEnd, end);
    if (length === removal) yield { key };
    else if (length >= repeats) yield { key, value: Buffer.concat([own, large]) };
    else {
      yield { key, value: own };
      if (length >= largeBytes) large = own;
    }
    at = end;
  }
}
