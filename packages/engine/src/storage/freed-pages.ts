import { readSync } from 'node:fs';
import { flag, head, node } from './page-layout.ts';

// LMDB's list of freed pages, read from its file: a tree whose keys are the numbers of the transactions that freed them.
// A transaction's entry stays as that transaction wrote it, until no reader needs a state before it and the pages are
// used again.

const rootAt = 88; // of this tree, in the page that describes the file
const noRoot = 0xffff_ffff_ffff_ffffn;

export type PageFile = { handle: number; pageSize: number };

function readBytes({ handle, pageSize }: PageFile, page: number, length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(length);
  return readSync(handle, bytes, 0, length, page * pageSize) === length ? bytes : undefined;
}

function readPages(file: PageFile, page: number, count = 1): Buffer {
  const bytes = readBytes(file, page, count * file.pageSize);
  if (!bytes) throw new Error(`page ${page} of the store is missing`);
  return bytes;
}

/** The pages that transactions after `after` have freed, in the state that `meta` describes. Unordered. */
export function* readFreedPages(file: PageFile, meta: Buffer, after: number): Generator<number[]> {
  const root = meta.readBigUInt64LE(rootAt);
  if (root !== noRoot) yield* readTree(file, Number(root), after);
}

function* readTree(file: PageFile, page: number, after: number): Generator<number[]> {
  const bytes = readPages(file, page);
  if (Number(bytes.readBigUInt64LE(head.page)) !== page)
    throw new Error(`page ${page} of the store is another`);
  const count = bytes.readUInt16LE(head.lower) / 2;
  const nodeAt = (n: number): number => head.bytes + bytes.readUInt16LE(head.bytes + 2 * n);
  const keyOf = (n: number): number => Number(bytes.readBigUInt64LE(nodeAt(n) + node.bytes));
  const isBranch = (bytes.readUInt16LE(head.flags) & flag.branch) !== 0;
  for (let n = 0; n < count; n++) {
    const at = nodeAt(n);
    if (isBranch) {
      // A child holds the keys up to the next one's first.
      if (n + 1 < count && keyOf(n + 1) <= after) continue;
      yield* readTree(file, bytes.readUInt32LE(at) + bytes.readUInt16LE(at + node.flags) * 2 ** 32, after);
    } else if (keyOf(n) > after) yield readList(file, bytes, at);
  }
}

function readList(file: PageFile, bytes: Buffer, at: number): number[] {
  const dataBytes = bytes.readUInt32LE(at);
  const start = at + node.bytes + bytes.readUInt16LE(at + node.keyBytes);
  const isLarge = (bytes.readUInt16LE(at + node.flags) & flag.largeData) !== 0;
  const list = isLarge
    ? readPages(
        file,
        Number(bytes.readBigUInt64LE(start)),
        Math.ceil((head.bytes + dataBytes) / file.pageSize),
      ).subarray(head.bytes)
    : bytes.subarray(start, start + dataBytes);
  return Array.from({ length: Number(list.readBigUInt64LE(0)) }, (_, n) =>
    Number(list.readBigUInt64LE(8 * (n + 1))),
  );
}

// Reads the pages that one transaction freed and that were written up to the transaction `until`. The pages of a large
// value follow each other, and only the first one says when it was written. A page that does not say is included.
export function* readOldPages(
  file: PageFile,
  freed: readonly number[],
  until: number,
): Generator<{ page: number; bytes: Buffer }> {
  const pages = [...freed].sort((a, b) => a - b);
  let large = { end: 0, isOld: false };
  for (const page of pages) {
    if (page >= large.end) {
      const start = readBytes(file, page, head.bytes);
      // LMDB has taken the page and given it back before it wrote it.
      if (!start) continue;
      const isOwn = Number(start.readBigUInt64LE(head.page)) === page;
      const isOld = !isOwn || Number(start.readBigUInt64LE(head.txn)) <= until;
      const isLarge = isOwn && (start.readUInt16LE(head.flags) & flag.overflow) !== 0;
      large = { end: page + (isLarge ? start.readUInt32LE(head.pages) : 1), isOld };
    }
    const bytes = large.isOld ? readBytes(file, page, file.pageSize) : undefined;
    if (bytes) yield { page, bytes };
  }
}
