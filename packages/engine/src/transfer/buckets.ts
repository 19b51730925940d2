import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileMode } from '../storage/file.ts';

/** The files of one bucket, as exports and imports use them. Errors with a `code` are passed on as DynamoDB's. */
export type Bucket = {
  put(key: string, bytes: Buffer): Promise<void>;
  /** The keys that begin with a prefix, in order. */
  list(prefix: string): Promise<string[]>;
  read(key: string): AsyncIterable<Buffer>;
};

/** Opens a bucket by its name. */
export type Buckets = (name: string) => Bucket;

/** The transfer of a table's items has failed, for a reason that its description says. */
export class TransferError extends Error {
  override readonly name = 'TransferError';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A folder that has a folder for each bucket. */
const folderBuckets =
  (folder: string): Buckets =>
  name => {
    const root = resolve(folder, name);

    function fileOf(key: string): string {
      const file = resolve(root, key);
      if (!file.startsWith(`${root}${sep}`))
        throw new TransferError('S3AccessDenied', `${key} is outside the bucket ${name}`);
      return file;
    }

    return {
      async put(key, bytes) {
        const file = fileOf(key);
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        await writeFile(`${file}.draft`, bytes, { mode: fileMode });
        await rename(`${file}.draft`, file);
      },
      async list(prefix) {
        if (!existsSync(root))
          throw new TransferError('S3NoSuchBucket', `The specified bucket does not exist: ${root}`);
        const entries = await readdir(root, { recursive: true, withFileTypes: true });
        return entries
          .filter(entry => entry.isFile() && !entry.name.endsWith('.draft'))
          .map(entry => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
          .filter(key => key.startsWith(prefix))
          .sort();
      },
      read: key => createReadStream(fileOf(key)),
    };
  };

/** A store in memory has no place for files. */
const noBuckets: Buckets = name => {
  throw new TransferError(
    'S3NoSuchBucket',
    `The specified bucket does not exist: ${name}. The option 'buckets' names a folder for them`,
  );
};

/** The buckets of a store: by default in its folder. */
export function bucketsOf(path: string, buckets: string | Buckets | undefined): Buckets {
  if (typeof buckets === 'function') return buckets;
  if (buckets !== undefined) return folderBuckets(buckets);
  return path === ':memory:' ? noBuckets : folderBuckets(join(path, 'buckets'));
}
