import { readFile, rm, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import * as limits from '../limits.ts';
import { createFileCache } from './file-cache.ts';
import { uploadFile, uploadParts } from './multipart-upload.ts';
import { checkKey, type ObjectStore } from './objects.ts';

export type S3Options = {
  bucket: string;
  // The folder of the lake, with or without a trailing slash.
  prefix?: string;
  region: string;
  // An S3 other than Amazon's. Bucket names are then in the path, as most of them require.
  endpoint?: string;
  // Without credentials, the SDK uses its default provider chain.
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  // A folder for copies of objects that were read.
  cache: string;
  partBytes?: number; // size of a part in a multipart upload; Amazon's S3 requires at least 5 MB
};

type Sdk = typeof import('@aws-sdk/client-s3');

// A bucket of Amazon S3, or of any S3-compatible store with conditional writes. The SDK is loaded at the first call.
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
  const copies = createFileCache(cache);
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

  // Earlier versions put no slash between a prefix and a key. A lake that one of them created continues like that.
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

  return {
    get: async key => collect(await read(key)),
    getRange: async (key, start, end) => collect(await read(key, `bytes=${start}-${end - 1}`)),
    locationOf: async key => {
      const { object } = await at(key);
      return `s3://${object.Bucket}/${object.Key}`;
    },
    async put(key, body) {
      if (body.length <= partBytes) return put(key, body);
      const readPart = async (from: number) => body.subarray(from, from + partBytes);
      await uploadParts(await at(key), { bytes: body.length, partBytes, readPart });
    },
    async putIfAbsent(key, Body) {
      const { client, sdk, object } = await at(key);
      for (let attempt = 1; ; attempt++) {
        try {
          await client.send(new sdk.PutObjectCommand({ ...object, Body, IfNoneMatch: '*' }));
          return true;
        } catch (error) {
          if (statusOf(error) === 412) return false;
          // Another put of the same key is in progress, and its result is not known yet.
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
      await copies.delete(object.Key);
    },
    async locate(key) {
      const { object } = await at(key);
      const found = await copies.find(object.Key);
      if (found !== undefined) return found;
      const body = await read(key);
      return body && copies.add(object.Key, body);
    },
    async putFile(key, path) {
      const { size: bytes } = await stat(path);
      if (bytes <= partBytes) await put(key, await readFile(path));
      else await uploadFile(await at(key), path, { bytes, partBytes });
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

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');
const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
