import { type FileHandle, open } from 'node:fs/promises';
import { journalFile, journalFolder } from './files.ts';
import type { JournalCursor } from './position.ts';
import { JournalDamage, readRecord, recordHead } from './records.ts';

/** Some commits of a journal, as they are stored there. */
export type JournalChunk = {
  records: Buffer;
  first: number;
  firstAt: number;
  lastAt: number;
  // The position after them.
  next: JournalCursor;
};

/**
 * Reads the next commits of the journal in the folder of a store, up to `end`: as many as fit into `mostBytes`, and at
 * least one. Undefined if there are none. Throws `JournalDamage` if they are missing or do not follow from the last one
 * read.
 */
export async function readJournal(
  path: string,
  from: JournalCursor,
  end: JournalCursor,
  mostBytes: number,
): Promise<JournalChunk | undefined> {
  if (from.history !== end.history) throw new JournalDamage('the journal was restarted');
  if (from.commit > end.commit) throw new JournalDamage(`the store has no commit ${from.commit}`);
  if (from.commit === end.commit && from.chain !== end.chain)
    throw new JournalDamage(`commit ${from.commit} is another one in the store`);
  let cursor = from;
  let damage: JournalDamage | undefined;
  while (cursor.commit < end.commit) {
    const bytes = await readBytes(path, cursor, end, mostBytes);
    const batch = takeRecords(bytes, cursor);
    if ('records' in batch) return batch;
    // A file that is not the last one ends with what it held before.
    damage ??= batch.damage;
    if (cursor.file >= end.file) throw damage;
    cursor = { ...cursor, file: cursor.file + 1, offset: 0 };
  }
  return undefined;
}

function takeRecords(bytes: Buffer, from: JournalCursor): JournalChunk | { damage: JournalDamage } {
  let cursor = from;
  let firstAt: number | undefined;
  let lastAt = 0;
  let length = 0;
  let damage = new JournalDamage(`commit ${from.commit + 1} is cut short`);
  try {
    for (let record = readRecord(bytes, 0, cursor); record; record = readRecord(bytes, length, cursor)) {
      firstAt ??= record.at;
      lastAt = record.at;
      length += recordHead + record.operations.length;
      cursor = { ...cursor, commit: record.commit, chain: record.chain, offset: from.offset + length };
    }
  } catch (error) {
    damage = error as JournalDamage;
  }
  if (firstAt === undefined) return { damage };
  return { records: bytes.subarray(0, length), first: from.commit + 1, firstAt, lastAt, next: cursor };
}

// Whole records, if the file has them; empty at its end.
async function readBytes(
  path: string,
  cursor: JournalCursor,
  end: JournalCursor,
  mostBytes: number,
): Promise<Buffer> {
  const file = await open(journalFile(journalFolder(path), cursor.file), 'r').catch(error => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new JournalDamage(`the file of the journal with commit ${cursor.commit + 1} is missing`);
  });
  try {
    const { size } = await file.stat();
    const fileEnd = cursor.file === end.file ? Math.min(end.offset, size) : size;
    const left = Math.max(0, fileEnd - cursor.offset);
    const bytes = await readAt(file, cursor.offset, Math.min(left, mostBytes));
    if (bytes.length < 4) return bytes;
    const firstLength = bytes.readUInt32BE(0);
    return firstLength <= bytes.length
      ? bytes
      : await readAt(file, cursor.offset, Math.min(left, firstLength));
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let got = 0;
  while (got < length) {
    const { bytesRead } = await file.read(bytes, got, length - got, offset + got);
    if (bytesRead === 0) break;
    got += bytesRead;
  }
  return bytes.subarray(0, got);
}
