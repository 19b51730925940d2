import { join } from 'node:path';
import { type Database, open } from 'lmdb';

// The engine's file, opened with LMDB alone and the engine's page size.
export function openRaw(folder: string): Database<Buffer, Buffer> {
  return open<Buffer, Buffer>({
    path: join(folder, 'stak.mdb'),
    pageSize: 8192,
    keyEncoding: 'binary',
    encoding: 'binary',
    cache: false,
  });
}
