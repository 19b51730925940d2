import { Readable } from 'node:stream';
import { AppError, type Clock } from '@stak/kit';
import type { Context } from 'hono';
import type { ApiEnv } from './context.ts';
import { refuse } from './errors.ts';

const closing = { Connection: 'close' }; // what is left of the body is not worth reading

const tooLarge = (mostBytes: number) =>
  refuse('http.body_too_large', `The body is larger than ${mostBytes} bytes.`, { headers: closing });

// On the wire a body is announced by one of two headers. A request that came by no wire just has one.
export function hasBody(c: Context<ApiEnv>): boolean {
  const length = c.req.header('content-length');
  if (length !== undefined) return length !== '0';
  if (c.env?.incoming) return c.req.header('transfer-encoding') !== undefined;
  return c.req.raw.body !== null;
}

// The whole body, or a problem as soon as it is too long or too slow.
export async function readBody(
  c: Context<ApiEnv>,
  { mostBytes, mostMs, clock }: { mostBytes: number; mostMs: number; clock: Clock },
): Promise<Uint8Array> {
  const length = c.req.header('content-length');
  if (length !== undefined && Number(length) > mostBytes) throw tooLarge(mostBytes);
  const reading = startReading(c, length !== undefined, mostBytes);
  const bytes = await within(reading.catch(brokenOff), mostMs, clock);
  if (bytes.length > mostBytes) throw tooLarge(mostBytes);
  return bytes;
}

function startReading(c: Context<ApiEnv>, isAnnounced: boolean, mostBytes: number): Promise<Uint8Array> {
  const { incoming } = c.env ?? {};
  // A Request has no body for these methods, whatever came over the wire.
  if (incoming && (c.req.method === 'GET' || c.req.method === 'HEAD'))
    return hasBody(c)
      ? readStream(Readable.toWeb(incoming) as ReadableStream, mostBytes)
      : Promise.resolve(new Uint8Array());
  // The transport holds the sender to the announced length and has a way to read it that avoids streams.
  if (isAnnounced) return c.req.raw.arrayBuffer().then(buffer => new Uint8Array(buffer));
  return readStream(c.req.raw.body, mostBytes);
}

const brokenOff = (error: unknown): never => {
  throw error instanceof AppError ? error : refuse('http.body_refused', 'The body broke off.', {}, error);
};

async function readStream(stream: ReadableStream<Uint8Array> | null, mostBytes: number): Promise<Uint8Array> {
  if (stream === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks, size);
    size += value.length;
    if (size > mostBytes) {
      reader.cancel().catch(() => {}); // not awaited: a sender may never acknowledge
      throw tooLarge(mostBytes);
    }
    chunks.push(value);
  }
}

async function within(reading: Promise<Uint8Array>, mostMs: number, clock: Clock): Promise<Uint8Array> {
  const isRead = new AbortController();
  const late = clock.sleep(mostMs, isRead.signal).then(
    () => Promise.reject(refuse('http.body_too_slow', 'The body took too long.', { headers: closing })),
    () => new Uint8Array(),
  );
  try {
    return await Promise.race([reading, late]);
  } finally {
    isRead.abort('read'); // with a reason of its own: the usual one is an error, and made with a stack
  }
}
