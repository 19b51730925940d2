import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import * as limits from './limits.ts';
import { checkKey, type ObjectStore } from './objects.ts';

export type S3Options = {
  bucket: string;
  // Everything of the lake lies under it.
  prefix?: string;
  region: string;
  endpoint?: string;
  // By default the SDK looks where it always looks.
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  // Objects that were read lie here, to be read again.
  cache: string;
};

type Sdk = typeof import('@aws-sdk/client-s3');

// A bucket, or anything that speaks S3 and knows conditional writes. The SDK is loaded at the first call.
export function s3Objects({
  bucket,
  prefix = '',
  region,
  endpoint,
  credentials,
  cache,
}: S3Options): ObjectStore & {
  close(): void;
} {
  let opened: Promise<{ client: S3Client; sdk: Sdk }> | undefined;
  const open = () => {
    opened ??= import('@aws-sdk/client-s3').then(sdk => {
      const place = endpoint === undefined ? {} : { endpoint, forcePathStyle: true };
      return { sdk, client: new sdk.S3Client({ region, ...place, ...(credentials && { credentials }) }) };
    });
    return opened;
  };
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + checkKey(key) });

  const copyOf = (key: string) =>
    join(cache, `${createHash('sha256').update(at(key).Key).digest('hex')}.parquet`);

  async function read(key: string): Promise<Readable | undefined> {
    const { client, sdk } = await open();
    try {
      const { Body } = await client.send(new sdk.GetObjectCommand(at(key)));
      return Body as Readable | undefined;
    } catch (error) {
      if (nameOf(error) === 'NoSuchKey' || statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  return {
    async get(key) {
      const body = await read(key);
      if (!body) return undefined;
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk as Uint8Array);
      return Buffer.concat(chunks);
    },
    async put(key, Body) {
      const { client, sdk } = await open();
      await client.send(new sdk.PutObjectCommand({ ...at(key), Body }));
    },
    async putIfAbsent(key, Body) {
      const { client, sdk } = await open();
      for (let attempt = 1; ; attempt++) {
        try {
          await client.send(new sdk.PutObjectCommand({ ...at(key), Body, IfNoneMatch: '*' }));
          return true;
        } catch (error) {
          if (statusOf(error) === 412) return false;
          // Another put of the same key is under way: whether it comes to be is not known yet.
          if (statusOf(error) !== 409 || attempt === limits.conflicts) throw error;
        }
      }
    },
    async *list(start) {
      const { client, sdk } = await open();
      let ContinuationToken: string | undefined;
      do {
        const page = await client.send(
          new sdk.ListObjectsV2Command({
            Bucket: bucket,
            Prefix: prefix + start,
            ...(ContinuationToken && { ContinuationToken }),
          }),
        );
        for (const { Key = '', Size = 0, LastModified } of page.Contents ?? [])
          yield { key: Key.slice(prefix.length), bytes: Size, changedAt: LastModified?.getTime() ?? 0 };
        ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (ContinuationToken);
    },
    async delete(key) {
      const { client, sdk } = await open();
      await client.send(new sdk.DeleteObjectCommand(at(key)));
      await rm(copyOf(key), { force: true });
    },
    // Files of the lake never change under their names, so a copy is as good as the object. One that was deleted in
    // the bucket may be read here for a while: nothing lists it any more.
    async locate(key) {
      const path = copyOf(key);
      const now = new Date();
      if (
        await utimes(path, now, now).then(
          () => true,
          () => false,
        )
      )
        return path;
      const body = await read(key);
      if (!body) return undefined;
      await mkdir(cache, { recursive: true });
      const unfinished = `${path}.${process.pid}.${now.getTime()}`;
      await pipeline(body, createWriteStream(unfinished));
      await rename(unfinished, path);
      await trim(cache);
      return path;
    },
    async putFile(key, path) {
      const { client, sdk } = await open();
      const { size: ContentLength } = await stat(path);
      await client.send(
        new sdk.PutObjectCommand({ ...at(key), Body: createReadStream(path), ContentLength }),
      );
      await rm(path, { force: true });
    },
    close: () => void opened?.then(({ client }) => client.destroy()),
  };
}

// The copies that were not read for the longest time go first.
async function trim(cache: string): Promise<void> {
  const files = await Promise.all(
    (await readdir(cache)).map(async name => {
      const path = join(cache, name);
      const about = await stat(path).catch(() => undefined);
      return { path, bytes: about?.size ?? 0, readAt: about?.mtimeMs ?? 0 };
    }),
  );
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  for (const file of files.sort((a, b) => a.readAt - b.readAt)) {
    if (bytes <= limits.cacheBytes) return;
    await rm(file.path, { force: true });
    bytes -= file.bytes;
  }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');
const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
