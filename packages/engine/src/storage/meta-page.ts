import { readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

// The first two pages of an LMDB file each describe one state of the tree: transaction n writes page n % 2. LMDB uses
// their first bytes only. The end of the first page holds the id of the store, so that a checkpoint is never applied to
// a file it does not belong to: LMDB's own copies do not have it.

const metaBytes = 168;
const magic = 0xbeefc0de;
const layout = { page: 0, magic: 24, pageSize: 48, lastPage: 144, txn: 152 };
const idBytes = 16;
const markBytes = idBytes + 4;

export type MetaPage = { txn: number; pageSize: number; lastPage: number; bytes: Buffer };

function decode(bytes: Buffer): MetaPage | undefined {
  if (bytes.length < metaBytes || bytes.readUInt32LE(layout.magic) !== magic) return undefined;
  return {
    txn: Number(bytes.readBigUInt64LE(layout.txn)),
    pageSize: bytes.readUInt32LE(layout.pageSize),
    lastPage: Number(bytes.readBigUInt64LE(layout.lastPage)),
    bytes,
  };
}

export function decodeMeta(bytes: Buffer): MetaPage {
  const meta = decode(bytes);
  if (!meta) throw new Error('the checkpoint does not describe a store');
  return meta;
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, position));
}

/** Both pages; undefined if either is not one of LMDB's. */
export function readMetaPages(file: number): [MetaPage, MetaPage] | undefined {
  const first = decode(readAt(file, 0, metaBytes));
  const second = first && decode(readAt(file, first.pageSize, metaBytes));
  return second && [first, second];
}

// Called in a write transaction: LMDB writes the other page at its end.
export function readNewestMeta(file: number): MetaPage {
  const pages = readMetaPages(file);
  if (!pages) throw new Error('the file has no pages that describe it');
  return pages[0].txn > pages[1].txn ? pages[0] : pages[1];
}

// Makes a file show an earlier state again, whose pages are intact. LMDB takes the newer page, so the other one must be
// older, and it must be readable: it describes the same state under the number before.
export function restoreMeta(file: number, bytes: Buffer): void {
  const meta = decodeMeta(bytes);
  for (const txn of [meta.txn, meta.txn - 1]) {
    const page = Buffer.from(bytes);
    page.writeBigUInt64LE(BigInt(txn % 2), layout.page);
    page.writeBigUInt64LE(BigInt(txn), layout.txn);
    writeSync(file, page, 0, page.length, (txn % 2) * meta.pageSize);
  }
}

/** The id of the store in this file; undefined if it has none. */
export function readStoreId(file: number): string | undefined {
  const pageSize = decode(readAt(file, 0, metaBytes))?.pageSize;
  if (!pageSize) return undefined;
  const mark = readAt(file, pageSize - markBytes, markBytes);
  if (mark.length < markBytes) return undefined;
  const id = mark.subarray(0, idBytes);
  return mark.readUInt32BE(idBytes) === crc32(id) && id.some(byte => byte > 0)
    ? id.toString('hex')
    : undefined;
}

export function writeStoreId(file: number, id: string): void {
  const pages = readMetaPages(file);
  if (!pages) throw new Error('the file has no pages that describe it');
  const mark = Buffer.alloc(markBytes);
  mark.write(id, 'hex');
  mark.writeUInt32BE(crc32(mark.subarray(0, idBytes)), idBytes);
  writeSync(file, mark, 0, markBytes, pages[0].pageSize - markBytes);
}
