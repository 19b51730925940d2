import { retryDelayMs } from './call.ts';
import type { Connection } from './connection.ts';
import { clientError, errorOf, StakError } from './errors.ts';
import { createEventParser, type RawEvent } from './event-stream.ts';
import * as limits from './limits.ts';
import type { Operation, ServerEvent, StreamOptions } from './operation.ts';
import { buildRequest, type Request } from './request.ts';

// Yields every event, over as many connections as necessary. Ends when the server has no more events, and throws errors
// that a retry cannot fix.
export async function* subscribe(
  connection: Connection,
  operation: Operation,
  args: Readonly<Record<string, unknown>>,
  { signal, lastEventId }: StreamOptions,
): AsyncGenerator<ServerEvent, void, undefined> {
  const request = buildRequest(operation, args, connection.settings.baseUrl);
  request.headers.Accept = 'text/event-stream';
  let afterId = lastEventId;
  let failures = 0;
  let waitMs = limits.reconnectMs;

  for (;;) {
    const over = new AbortController();
    const stop = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
    if (afterId !== undefined) request.headers['Last-Event-ID'] = afterId;
    try {
      for await (const event of readStream(connection, request, stop, ms => (waitMs = ms))) {
        failures = 0;
        afterId = event.id ?? afterId;
        if (event.event === 'end') {
          if (reasonOf(event) === 'done') return;
          break;
        }
        yield { ...event, data: parseData(event.data) };
      }
    } catch (error) {
      if (!(error instanceof StakError)) throw error;
      const delayMs = retryDelayMs(error, true, failures++, connection.random);
      if (delayMs === undefined) throw error;
      await connection.sleep(delayMs, signal);
      continue;
    } finally {
      over.abort(); // closes the connection when the caller stops listening
    }
    await connection.sleep(waitMs * (1 + connection.random() / 2), signal);
  }
}

async function* readStream(
  connection: Connection,
  request: Request,
  signal: AbortSignal,
  onRetry: (ms: number) => void,
): AsyncGenerator<RawEvent, void, undefined> {
  const events: RawEvent[] = [];
  const parse = createEventParser({ onEvent: event => events.push(event), onRetry });
  const decoder = new TextDecoder();
  // The stream continues after the exchange: a timeout would end it.
  const timeoutMs = Number.POSITIVE_INFINITY;
  const reader = await connection.exchange(request, { signal, timeoutMs }, openStream);
  for (;;) {
    const { done, value } = await readWithin(connection, reader, signal);
    if (done) return;
    parse(decoder.decode(value, { stream: true }));
    yield* events.splice(0);
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function openStream(response: Response): Promise<Reader> {
  if (!response.ok) throw await errorOf(response);
  const type = response.headers.get('content-type') ?? '';
  if (!type.startsWith('text/event-stream') || !response.body)
    throw clientError('client.answer_invalid', 'The server sent something else than events.');
  return response.body.getReader();
}

async function readWithin(connection: Connection, reader: Reader, signal: AbortSignal) {
  const isRead = new AbortController();
  const silence = connection
    .sleep(limits.silenceMs, isRead.signal)
    .then(() => Promise.reject(clientError('client.timeout', 'The stream has gone silent.')));
  silence.catch(() => {});
  try {
    return await Promise.race([reader.read(), silence]);
  } catch (error) {
    if (error instanceof StakError) throw error;
    signal.throwIfAborted();
    throw clientError('client.unreachable', 'The stream broke off.', error);
  } finally {
    isRead.abort();
  }
}

function parseData(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // text is sent as it is
  }
}

const reasonOf = ({ data }: RawEvent): unknown => (parseData(data) as { reason?: unknown } | null)?.reason;
