import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { TransferError } from './buckets.ts';

export const lineBytes = 4 * 1024 * 1024; // an item has at most 400 KB; in JSON it may be several times as long

/** The lines of a file, decompressed, without holding more than one of them. */
export async function* readLines(
  source: AsyncIterable<Buffer>,
  compression: 'GZIP' | 'NONE',
  onBytes: (bytes: number) => void,
): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of compression === 'GZIP' ? unpacked(source, onBytes) : counted(source, onBytes)) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const part = chunk.subarray(start, end);
      yield (rest.length > 0 ? Buffer.concat([...rest, part]) : part).toString('utf8');
      rest = [];
      restBytes = 0;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    rest.push(chunk.subarray(start));
    restBytes += chunk.length - start;
    if (restBytes > lineBytes) throw new TransferError('ItemSizeTooLarge', 'A line of the file is too long');
  }
  if (restBytes > 0) yield Buffer.concat(rest).toString('utf8');
}

async function* counted(source: AsyncIterable<Buffer>, onBytes: (bytes: number) => void) {
  for await (const chunk of source) {
    onBytes(chunk.length);
    yield chunk;
  }
}

async function* unpacked(source: AsyncIterable<Buffer>, onBytes: (bytes: number) => void) {
  const gunzip = createGunzip();
  // Closes the file if the rest of it is not wanted. Its error is the one of reading, too.
  const feeding = pipeline(counted(source, onBytes), gunzip).catch(() => {});
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code?.startsWith('Z_')
      ? new TransferError(
          'GzipFormatError',
          `A file is not compressed as it should be: ${(error as Error).message}`,
        )
      : error;
  } finally {
    gunzip.destroy();
    await feeding;
  }
}
