import type { IncomingMessage } from 'node:http';
import { AppError, type Clock, yieldToEventLoop } from '@stak/kit';
import type { Context } from 'hono';
import type { ApiEnv } from '../context.ts';
import { refuse } from '../errors.ts';
import * as limits from '../limits.ts';
import type { Flight } from './in-flight.ts';

const closing = { Connection: 'close' }; // the rest of the body is not read

const tooLarge = (mostBytes: number) =>
  refuse('http.body_too_large', `The body is larger than ${mostBytes} bytes.`, { headers: closing });
const tooSlow = () => refuse('http.body_too_slow', 'The body took too long.', { headers: closing });
const brokenOff = (cause?: unknown) => refuse('http.body_refused', 'The body broke off.', {}, cause);

// Over HTTP, one of two headers announces a body. A request made in process just has one.
export function hasBody(c: Context<ApiEnv>): boolean {
  const length = c.req.header('content-length');
  if (length !== undefined) return length !== '0';
  if (c.env?.incoming) return c.req.header('transfer-encoding') !== undefined;
  return c.req.raw.body !== null;
}

type Reading = { mostBytes: number; mostMs: number; clock: Clock; flight?: Flight };

// Returns the whole body, or a problem as soon as it is too long, too slow, or exceeds the available memory.
export async function readBody(
  c: Context<ApiEnv>,
  { mostBytes, mostMs, clock, flight }: Reading,
): Promise<Uint8Array> {
  const length = c.req.header('content-length');
  if (length !== undefined && Number(length) > mostBytes) throw tooLarge(mostBytes);
  if (!hasBody(c)) return new Uint8Array();
  const limited = { mostBytes, mostMs, clock, flight };
  // A Request has no body for GET and HEAD, even if one was sent, so the socket is read.
  const { incoming } = c.env ?? {};
  if (incoming) return readIncomingBody(incoming, limited);
  return readWithin(limited, buffer => readStream(c.req.raw.body, buffer));
}

// The same for a request whose length was checked.
export const readIncomingBody = (incoming: IncomingMessage, limited: Reading): Promise<Uint8Array> =>
  readWithin(limited, buffer => readIncoming(incoming, buffer));

async function readWithin(
  { mostBytes, mostMs, clock, flight }: Reading,
  begin: (buffer: Buffered) => BodyReading,
): Promise<Uint8Array> {
  const reading = begin(createBuffer(mostBytes, flight));
  flight?.reading(reading.stop);
  const cancel = clock.after(mostMs, () => reading.stop(tooSlow()));
  try {
    const bytes = await reading.whole;
    flight?.complete();
    // One large body in each iteration of the event loop: parsing and checking several at once would delay everybody.
    if (bytes.length > limits.largeBodyBytes) await yieldToEventLoop();
    return bytes;
  } catch (error) {
    throw error instanceof AppError ? error : brokenOff(error);
  } finally {
    cancel();
  }
}

// `stop` ends the read and rejects `whole` with the reason; later calls do nothing.
type BodyReading = { whole: Promise<Uint8Array>; stop(reason: unknown): void };

type Buffered = { add(chunk: Uint8Array): void; all(): Uint8Array };

// One growing buffer rather than a list of chunks: a body sent byte by byte would cost a hundred times its size.
function createBuffer(mostBytes: number, flight: Flight | undefined): Buffered {
  let bytes: Uint8Array = new Uint8Array();
  let size = 0;
  return {
    add(chunk) {
      const needed = size + chunk.length;
      if (needed > mostBytes) throw tooLarge(mostBytes);
      if (needed > bytes.length) {
        const isFirst = size === 0; // usually the only chunk, so it is used without a copy
        const capacity = isFirst
          ? chunk.length
          : Math.min(mostBytes, Math.max(needed, limits.bodyBufferBytes, bytes.length * 2));
        flight?.take(capacity - bytes.length);
        const larger = isFirst ? chunk : Buffer.allocUnsafeSlow(capacity);
        if (!isFirst) larger.set(bytes.subarray(0, size));
        bytes = larger;
        if (isFirst) {
          size = needed;
          return;
        }
      }
      bytes.set(chunk, size);
      size = needed;
    },
    all: () => bytes.subarray(0, size),
  };
}

function readIncoming(incoming: IncomingMessage, buffer: Buffered): BodyReading {
  let stop: BodyReading['stop'] = () => {};
  const whole = new Promise<Uint8Array>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      try {
        buffer.add(chunk);
      } catch (error) {
        fail(error);
      }
    };
    const finish = () => {
      leave();
      resolve(buffer.all());
    };
    const fail = (error?: unknown) => {
      leave();
      reject(error ?? brokenOff());
    };
    // A sender may disconnect after the whole body has arrived and before it is read.
    const close = () => {
      if (!incoming.complete) return fail(incoming.errored);
      for (let rest = incoming.read(); rest !== null; rest = incoming.read()) take(rest as Buffer);
      finish();
    };
    const leave = () => {
      incoming.off('data', take).off('end', finish).off('error', fail).off('close', close);
      incoming.pause();
    };
    if (incoming.readableEnded) return finish();
    if (incoming.destroyed) return close();
    incoming.on('data', take).on('end', finish).on('error', fail).on('close', close);
    stop = fail;
  });
  return { whole, stop: reason => stop(reason) };
}

function readStream(stream: ReadableStream<Uint8Array> | null, buffer: Buffered): BodyReading {
  const reader = stream?.getReader();
  let giveUp: (reason: unknown) => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  const read = async () => {
    for (;;) {
      const { done = true, value } = (await reader?.read()) ?? {};
      if (done) return buffer.all();
      buffer.add(value!);
    }
  };
  return {
    whole: Promise.race([read(), stopped]).finally(() => void reader?.cancel().catch(() => {})),
    stop: giveUp,
  };
}
