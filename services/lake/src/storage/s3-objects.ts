import { readFile, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { createSemaphore } from '@stak/kit';
import * as limits from '../limits.ts';
import { createFileCache } from './file-cache.ts';
import { type Destination, uploadFile, uploadParts } from './multipart-upload.ts';
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
  connectMs?: number;
  silenceMs?: number; // how long a request may go without progress
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
  connectMs = limits.s3ConnectMs,
  silenceMs = limits.s3SilenceMs,
}: S3Options): ObjectStore & {
  close(): void;
} {
  const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  const copies = createFileCache(cache);
  // The SDK counts the wait for a free connection as time to connect, so requests wait here.
  const slots = createSemaphore(limits.s3Connections);
  let opened: Promise<{ client: S3Client; sdk: Sdk }> | undefined;
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
    const agent = { maxSockets: limits.s3Connections };
    // `socketTimeout` ends requests without progress, up to the last byte of a response. A `requestTimeout` would
    // include the upload, and end slow ones.
    const requestHandler = {
      connectionTimeout: connectMs,
      socketTimeout: silenceMs,
      httpAgent: agent,
      httpsAgent: agent,
    };
    const client = new sdk.S3Client({
      region,
      ...address,
      ...(credentials && { credentials }),
      requestHandler,
    });
    sendInChunks(client);
    return { sdk, client };
  }

  async function at(key: string): Promise<Destination> {
    const { client, sdk } = await open();
    return { client, sdk, object: { Bucket: bucket, Key: folder + checkKey(key) } };
  }

  // The work includes reading the body of a response, which takes up the connection.
  const using = <T>(key: string, work: (to: Destination) => Promise<T>): Promise<T> =>
    slots.run(async () => work(await at(key)));

  const uploadBody = (key: string, body: Uint8Array): Promise<void> =>
    using(key, async to => {
      if (body.length <= partBytes) return put(to, body);
      const readPart = async (from: number) => body.subarray(from, from + partBytes);
      await uploadParts(to, { bytes: body.length, partBytes, readPart });
    });

  return {
    get: key => using(key, async to => collect(await read(to))),
    getRange: (key, start, end) =>
      using(key, async to => collect(await read(to, `bytes=${start}-${end - 1}`))),
    locationOf: async key => {
      const { object } = await at(key);
      return `s3://${object.Bucket}/${object.Key}`;
    },
    put: uploadBody,
    putIfAbsent: (key, body) => using(key, to => putIfAbsent(to, body)),
    async *list(start) {
      const { client, sdk } = await open();
      let ContinuationToken: string | undefined;
      do {
        const input = {
          Bucket: bucket,
          Prefix: folder + start,
          ...(ContinuationToken && { ContinuationToken }),
        };
        const page = await slots.run(() => client.send(new sdk.ListObjectsV2Command(input)));
        for (const { Key = '', Size = 0, LastModified } of page.Contents ?? [])
          yield { key: Key.slice(folder.length), bytes: Size, changedAt: LastModified?.getTime() ?? 0 };
        ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (ContinuationToken);
    },
    delete: key =>
      using(key, async ({ client, sdk, object }) => {
        await client.send(new sdk.DeleteObjectCommand(object));
        await copies.delete(object.Key);
      }),
    async locate(key) {
      const { object } = await at(key);
      const found = await copies.find(object.Key);
      if (found !== undefined) return found;
      return using(key, async to => {
        const body = await read(to);
        return body && copies.add(object.Key, body);
      });
    },
    async putFile(key, path) {
      const { size: bytes } = await stat(path);
      if (bytes <= partBytes) await uploadBody(key, await readFile(path));
      else await using(key, to => uploadFile(to, path, { bytes, partBytes }));
      await rm(path, { force: true });
    },
    close: () => void opened?.then(({ client }) => client.destroy()).catch(() => {}),
  };
}

// Over TLS, Node sees no progress before the end of a write, so that a large one would count as silence. This comes after
// everything that needs the body as a whole: checksum, signature and retries.
function sendInChunks(client: S3Client): void {
  client.middlewareStack.add(
    next => args => {
      const request = args.request as { body?: unknown };
      const { body } = request;
      if (!(body instanceof Uint8Array) || body.length <= limits.s3WriteBytes) return next(args);
      return next({ ...args, request: { ...request, body: Readable.from(chunksOf(body)) } });
    },
    { step: 'deserialize', priority: 'low', name: 'sendInChunks' },
  );
}

function* chunksOf(body: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < body.length; from += limits.s3WriteBytes)
    yield body.subarray(from, from + limits.s3WriteBytes);
}

async function read({ client, sdk, object }: Destination, Range?: string): Promise<Readable | undefined> {
  try {
    const { Body } = await client.send(new sdk.GetObjectCommand({ ...object, ...(Range && { Range }) }));
    return Body as Readable | undefined;
  } catch (error) {
    if (nameOf(error) === 'NoSuchKey' || statusOf(error) === 404) return undefined;
    throw error;
  }
}

async function put({ client, sdk, object }: Destination, Body: Uint8Array): Promise<void> {
  await client.send(new sdk.PutObjectCommand({ ...object, Body }));
}

async function putIfAbsent({ client, sdk, object }: Destination, Body: Uint8Array): Promise<boolean> {
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
