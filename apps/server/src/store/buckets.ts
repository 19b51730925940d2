import { type Bucket, type Buckets, TransferError } from '@stak/engine';
import type { ObjectStore } from '@stak/lake/maintenance';
import { UsageError } from '../config/errors.ts';
import { openObjects } from './lake/lake-objects.ts';

// The buckets of exports and imports of the embedded DynamoDB: folders of a folder, or those of S3.

const readBytes = 8 * 1024 * 1024;

/**
 * Opens the folder of a path, or for s3 the buckets of the environment's region. Undefined means the folder of the
 * store.
 */
export function openBuckets(
  path: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | Buckets | undefined {
  if (path !== 's3') return path;
  const { STAK_AWS_REGION: region, STAK_S3_ENDPOINT: endpoint } = env;
  if (!region) throw new UsageError('--buckets s3 needs STAK_AWS_REGION');
  const opened = new Map<string, Bucket>();
  return name => {
    const location = { kind: 's3', bucket: name, prefix: '', region, cache: '' } as const;
    const bucket = opened.get(name) ?? bucketOf(openObjects({ ...location, ...(endpoint && { endpoint }) }));
    opened.set(name, bucket);
    return bucket;
  };
}

function bucketOf(objects: Pick<ObjectStore, 'put' | 'list' | 'getRange'>): Bucket {
  return {
    put: (key, bytes) => objects.put(key, bytes),
    async list(prefix) {
      const keys: string[] = [];
      for await (const { key } of objects.list(prefix)) keys.push(key);
      return keys;
    },
    async *read(key) {
      for (let at = 0, size = await sizeOf(objects, key); at < size; at += readBytes) {
        const piece = await objects.getRange(key, at, Math.min(size, at + readBytes));
        if (!piece) throw new TransferError('S3NoSuchKey', `The object ${key} is gone`);
        yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      }
    },
  };
}

async function sizeOf(objects: Pick<ObjectStore, 'list'>, key: string): Promise<number> {
  for await (const object of objects.list(key)) if (object.key === key) return object.bytes;
  throw new TransferError('S3NoSuchKey', `The object ${key} is gone`);
}
