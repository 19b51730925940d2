import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
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
  const content = await readFile(join(folder, name));
  for (let at = 0; at < content.length; ) {
    const end = at + headBytes + (content.length - at < headBytes ? 0 : content.readUInt32BE(at));
    const packed = content.subarray(at + headBytes, end);
    if (
      end > content.length ||
      content.length - at < headBytes ||
      crc32(packed) !== content.readUInt32BE(at + 4)
    )
      throw new HistoryDamage(`${name} of the history is damaged`);
    yield await gunzipped(packed);
    at = end;
  }
}
