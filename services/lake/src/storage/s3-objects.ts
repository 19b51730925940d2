import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open as openFile, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
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
  partBytes?: number; // of what is uploaded in parts; Amazon's S3 takes no less than 5 MB
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
  partBytes = limits.partBytes,
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

  async function put(key: string, Body: Uint8Array): Promise<void> {
    const { client, sdk, object } = await at(key);
    await client.send(new sdk.PutObjectCommand({ ...object, Body }));
  }

  // Each part is in memory, so a request that failed is made again by the SDK, and only that one. There is no object
  // before the last request. Parts of a process that was killed are for the bucket's lifecycle rules to remove.
  async function putParts(key: string, bytes: number, readPart: (from: number) => Promise<Uint8Array>) {
    const { client, sdk, object } = await at(key);
    const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(object));
    const upload = { ...object, UploadId };
    try {
      const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
      for (let from = 0; from < bytes; from += partBytes) {
        const part = { ...upload, PartNumber: Parts.length + 1, Body: await readPart(from) };
        const { ETag } = await client.send(new sdk.UploadPartCommand(part));
        Parts.push({ PartNumber: part.PartNumber, ETag });
      }
      await complete(upload, Parts);
    } catch (error) {
      await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => {}); // the first failure says more
      throw error;
    }
  }

  // If the answer was lost, the same request is told that there is no such upload any more.
  async function complete(
    upload: { Bucket: string; Key: string; UploadId: string | undefined },
    Parts: readonly { PartNumber: number; ETag: string | undefined }[],
  ): Promise<void> {
    const { client, sdk } = await open();
    const { Bucket, Key } = upload;
    try {
      await client.send(
        new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: [...Parts] } }),
      );
    } catch (error) {
      if (nameOf(error) !== 'NoSuchUpload') throw error;
      const { ETag = '' } = await client.send(new sdk.HeadObjectCommand({ Bucket, Key }));
      if (!ETag.includes(`-${Parts.length}`)) throw error;
    }
  }

  return {
    get: async key => collect(await read(key)),
    getRange: async (key, start, end) => collect(await read(key, `bytes=${start}-${end - 1}`)),
    locationOf: async key => {
      const { object } = await at(key);
      return `s3://${object.Bucket}/${object.Key}`;
    },
    put: (key, body) =>
      body.length <= partBytes
        ? put(key, body)
        : putParts(key, body.length, async from => body.subarray(from, from + partBytes)),
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
      const { size } = await stat(path);
      if (size <= partBytes) await put(key, await readFile(path));
      else {
        const file = await openFile(path);
        try {
          await putParts(key, size, async from => {
            const part = Buffer.alloc(Math.min(partBytes, size - from));
            for (let read = 0; read < part.length; ) {
              const { bytesRead } = await file.read(part, read, part.length - read, from + read);
              if (bytesRead === 0) throw new Error(`${path} has become shorter`);
              read += bytesRead;
            }
            return part;
          });
        } finally {
          await file.close();
        }
      }
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

// The copies that were not read for the longest time go first, and all that were not read for long.
async function trim(cache: string): Promise<void> {
  const files = await Promise.all(
    (await readdir(cache)).map(async name => {
      const path = join(cache, name);
      const about = await stat(path).catch(() => undefined);
      return { path, bytes: about?.size ?? 0, readAt: about?.mtimeMs ?? 0 };
    }),
  );
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const oldMs = Date.now() - limits.cacheMs;
  for (const file of files.sort((a, b) => a.readAt - b.readAt)) {
    if (bytes <= limits.cacheBytes && file.readAt > oldMs) return;
    await rm(file.path, { force: true });
    bytes -= file.bytes;
  }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');
const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
