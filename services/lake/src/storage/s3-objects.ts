import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import * as limits from '../limits.ts';
import { fileMode, folderMode } from './folder-objects.ts';
import { checkKey, type ObjectStore } from './objects.ts';

export type S3Options = {
  bucket: string;
  // The folder that everything of the lake lies in, with or without a slash at its end.
  prefix?: string;
  region: string;
  // Another S3 than Amazon's. Buckets are then named in the path, as most of them want it.
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
  let opened: Promise<{ client: S3Client; sdk: Sdk; folder: string }> | undefined;
  const open = () => {
    opened ??= connect().catch(error => {
      opened = undefined;
      throw error;
    });
    return opened;
  };

  async function connect() {
    const sdk = await import('@aws-sdk/client-s3');
    const address = endpoint === undefined ? {} : { endpoint, forcePathStyle: true };
    const client = new sdk.S3Client({ region, ...address, ...(credentials && { credentials }) });
    return { sdk, client, folder: await findFolder(sdk, client) };
  }

  // Earlier versions put no slash between a prefix and a key. A lake that one of them has begun goes on like that.
  async function findFolder(sdk: Sdk, client: S3Client): Promise<string> {
    if (prefix === '' || prefix.endsWith('/')) return prefix;
    const Prefix = `${prefix}manifest/`;
    const { Contents = [] } = await client.send(
      new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix, MaxKeys: 1 }),
    );
    return Contents.length > 0 ? prefix : `${prefix}/`;
  }

  async function at(key: string) {
    const { client, sdk, folder } = await open();
    return { client, sdk, object: { Bucket: bucket, Key: folder + checkKey(key) } };
  }

  const copyOf = ({ Key }: { Key: string }) =>
    join(cache, `${createHash('sha256').update(Key).digest('hex')}.parquet`);

  async function read(key: string, Range?: string): Promise<Readable | undefined> {
    const { client, sdk, object } = await at(key);
    try {
      const { Body } = await client.send(new sdk.GetObjectCommand({ ...object, ...(Range && { Range }) }));
      return Body as Readable | undefined;
    } catch (error) {
      if (nameOf(error) === 'NoSuchKey' || statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  return {
    get: async key => collect(await read(key)),
    getRange: async (key, start, end) => collect(await read(key, `bytes=${start}-${end - 1}`)),
    locationOf: async key => {
      const { object } = await at(key);
      return `s3://${object.Bucket}/${object.Key}`;
    },
    async put(key, Body) {
      const { client, sdk, object } = await at(key);
      await client.send(new sdk.PutObjectCommand({ ...object, Body }));
    },
    async putIfAbsent(key, Body) {
      const { client, sdk, object } = await at(key);
      for (let attempt = 1; ; attempt++) {
        try {
          await client.send(new sdk.PutObjectCommand({ ...object, Body, IfNoneMatch: '*' }));
          return true;
        } catch (error) {
          if (statusOf(error) === 412) return false;
          // Another put of the same key is under way: whether it comes to be is not known yet.
          if (statusOf(error) !== 409 || attempt === limits.conflicts) throw error;
        }
      }
    },
    async *list(start) {
      const { client, sdk, folder } = await open();
      let ContinuationToken: string | undefined;
      do {
        const page = await client.send(
          new sdk.ListObjectsV2Command({
            Bucket: bucket,
            Prefix: folder + start,
            ...(ContinuationToken && { ContinuationToken }),
          }),
        );
        for (const { Key = '', Size = 0, LastModified } of page.Contents ?? [])
          yield { key: Key.slice(folder.length), bytes: Size, changedAt: LastModified?.getTime() ?? 0 };
        ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (ContinuationToken);
    },
    async delete(key) {
      const { client, sdk, object } = await at(key);
      await client.send(new sdk.DeleteObjectCommand(object));
      await rm(copyOf(object), { force: true });
    },
    // Files of the lake never change under their names, so a copy is as good as the object. One that was deleted in
    // the bucket may be read here for a while: nothing lists it any more.
    async locate(key) {
      const path = copyOf((await at(key)).object);
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
      await mkdir(cache, { recursive: true, mode: folderMode });
      const unfinished = `${path}.${randomUUID()}`;
      await pipeline(body, createWriteStream(unfinished, { mode: fileMode }));
      await rename(unfinished, path);
      await trim(cache);
      return path;
    },
    async putFile(key, path) {
      const { client, sdk, object } = await at(key);
      const { size: ContentLength } = await stat(path);
      await client.send(new sdk.PutObjectCommand({ ...object, Body: createReadStream(path), ContentLength }));
      await rm(path, { force: true });
    },
    close: () => void opened?.then(({ client }) => client.destroy()).catch(() => {}),
  };
}

async function collect(body: Readable | undefined): Promise<Buffer | undefined> {
  if (!body) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
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
