import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, crc32, gunzip, gzip } from 'node:zlib';
import { draftOf, removeFile } from '../journal/history-files.ts';
import { flushFile, flushFolder } from '../storage/disk.ts';
import { fileMode } from '../storage/file.ts';

// Files of a history: pieces, each compressed, with its length and checksum. A file has its name only when all of it is
// on the disk.

const gzipped = promisify(gzip);
const gunzipped = promisify(gunzip);
const fast = { level: constants.Z_BEST_SPEED };
const headBytes = 8;

class HistoryDamage extends Error {
  override readonly name = 'HistoryDamage';
}

export function createArchive(folder: string, draft: string) {
  const file = join(folder, draftOf(draft));
  const handle = openSync(file, 'w', fileMode);
  let bytes = 0;
  return {
    bytes: () => bytes,
    async add(piece: Buffer): Promise<void> {
      const packed = await gzipped(piece, fast);
      const head = Buffer.alloc(headBytes);
      head.writeUInt32BE(packed.length, 0);
      head.writeUInt32BE(crc32(packed), 4);
      writeSync(handle, head);
      for (let count = 0; count < packed.length; ) count += writeSync(handle, packed, count);
      bytes += headBytes + packed.length;
    },
    async finish(name: string): Promise<void> {
      await flushFile(handle, file);
      closeSync(handle);
      renameSync(file, join(folder, name));
      await flushFolder(folder);
    },
    abandon(): void {
      try {
        closeSync(handle);
      } catch {} // it was finished, except for its name
      removeFile(folder, draftOf(draft));
    },
  };
}

export async function* readArchive(folder: string, name: string): AsyncGenerator<Buffer> {
  const file = await open(join(folder, name));
  const read = async (length: number, position: number): Promise<Buffer> => {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  };
  try {
    const { size } = await file.stat();
    for (let at = 0; at < size; ) {
      const head = await read(headBytes, at);
      const length = head.length < headBytes ? size : head.readUInt32BE(0);
      const packed = length > size - at - headBytes ? undefined : await read(length, at + headBytes);
      if (packed?.length !== length || crc32(packed) !== head.readUInt32BE(4))
        throw new HistoryDamage(`${name} of the history is damaged`);
      yield await gunzipped(packed);
      at += headBytes + length;
    }
  } finally {
    await file.close();
  }
}
