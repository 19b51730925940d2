import { randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { flushFile, flushFolder } from '../storage/disk.ts';
import { fileMode } from '../storage/file.ts';

// Copies of pages of the recorded checkpoint that LMDB has freed and may overwrite. After a power failure they are put
// back. Every process that writes keeps a file of its own, so that none depends on another one.
//
//   image   checksum (4) | number of recoveries (4) | state when it was taken (8) | page (8) | id of the store (16) | page

type ImageOf = { id: string; recoveries: number };
type Image = ImageOf & { txn: number; page: number; bytes: Buffer };

const headBytes = 40;
const suffix = '.pages';

const ownFiles = new Set<string>();

export function createPageImages(folder: string, pageSize: number) {
  const name = join(folder, `${randomBytes(8).toString('hex')}${suffix}`);
  let handle: number | undefined;
  let isNew = true;
  let isFlushed = true;
  let offset = 0;
  const head = Buffer.alloc(headBytes);

  return {
    add({ id, recoveries, txn, page, bytes }: Image): void {
      handle ??= openSync(name, 'wx+', fileMode);
      ownFiles.add(name);
      isFlushed = false;
      head.writeUInt32BE(recoveries, 4);
      head.writeDoubleBE(txn, 8);
      head.writeDoubleBE(page, 16);
      head.write(id, 24, 'hex');
      head.writeUInt32BE(crc32(bytes, crc32(head.subarray(4))), 0);
      const image = Buffer.concat([head, bytes]);
      for (let count = 0; count < image.length; )
        count += writeSync(handle, image, count, image.length - count, offset + count);
      offset += headBytes + pageSize;
    },
    async flush(): Promise<void> {
      if (handle === undefined || isFlushed) return;
      await flushFile(handle, name);
      if (isNew) await flushFolder(folder);
      isNew = false;
      isFlushed = true;
    },
    // A newer checkpoint is recorded: its pages are all where they belong.
    clear(): void {
      if (handle !== undefined && offset > 0) ftruncateSync(handle, 0);
      offset = 0;
    },
    close(): void {
      if (handle === undefined) return;
      closeSync(handle);
      handle = undefined;
      ownFiles.delete(name);
      // Otherwise the recorded checkpoint may need them.
      if (offset === 0) rmSync(name, { force: true });
    },
    bytes: () => offset,
  };
}

// The content of pages as they were in a checkpoint. A page may have been copied again after it was overwritten: the
// earliest copy is the right one.
export function readPageImages(
  folder: string,
  { id, recoveries }: ImageOf,
  checkpointTxn: number,
  pageSize: number,
): Map<number, Buffer> {
  const images = new Map<number, { txn: number; bytes: Buffer }>();
  for (const image of readImages(folder, pageSize)) {
    if (image.id !== id || image.recoveries !== recoveries || image.txn <= checkpointTxn) continue;
    const known = images.get(image.page);
    if (!known || image.txn < known.txn) images.set(image.page, image);
  }
  return new Map([...images].map(([page, { bytes }]) => [page, bytes]));
}

const imageFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter(name => name.endsWith(suffix))
    .map(name => join(folder, name));

function* readImages(folder: string, pageSize: number): Generator<Image> {
  for (const file of imageFiles(folder)) {
    const content = readFileSync(file);
    for (let at = 0; at + headBytes + pageSize <= content.length; at += headBytes + pageSize) {
      const image = content.subarray(at, at + headBytes + pageSize);
      // One that was not finished, or replaced in part.
      if (crc32(image.subarray(headBytes), crc32(image.subarray(4, headBytes))) !== image.readUInt32BE(0))
        continue;
      yield {
        recoveries: image.readUInt32BE(4),
        txn: image.readDoubleBE(8),
        page: image.readDoubleBE(16),
        id: image.toString('hex', 24, headBytes),
        bytes: image.subarray(headBytes),
      };
    }
  }
}

// Removes the copies of processes that were killed. A newer checkpoint must be recorded, and no other process may have
// the store open.
export function removePageImages(folder: string): void {
  for (const file of imageFiles(folder)) if (!ownFiles.has(file)) rmSync(file, { force: true });
}
