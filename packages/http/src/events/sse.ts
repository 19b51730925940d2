import { AppError } from '@stak/kit';
import type { Context } from 'hono';
import type { ApiEnv } from '../context.ts';
import { refuse } from '../errors.ts';
import * as limits from '../limits.ts';
import { type Auth, bearerToken, type Principal } from '../principal.ts';
import { callerKey } from '../routes/caller.ts';
import { createEventBuffer, type EventBuffer } from './event-buffer.ts';
import type { ServerEvent } from './event-text.ts';

export type EventSink = {
  // For current events. A consumer that is too far behind is disconnected and reconnects with its Last-Event-ID.
  send(event: ServerEvent): void;
  // For past events: resolves when there is room again, or when the stream has ended.
  ready(): Promise<void>;
  readonly signal: AbortSignal; // aborted when the client disconnects, the stream's time is over or the server stops
};

// Sends the events after the given id, then new ones. The stream ends when it returns, so it waits for the signal.
export type Subscribe = (afterId: string | undefined, sink: EventSink) => Promise<void>;

export type SseOptions = {
  // Repeats what the handler has checked besides the tenant of its route. A caller that either refuses later is
  // disconnected at the next check.
  enter?(): unknown;
  subscribe: Subscribe;
  lastEventId?: string; // if it does not come from the Last-Event-ID header
  heartbeatMs?: number;
  lifetimeMs?: number;
  bufferBytes?: number;
  namesEnd?: boolean; // whether the last event gives the reason for the end; default: true
};

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no', // disables buffering in nginx
};

export function sse<A extends Auth>(c: Context<ApiEnv<A>>, options: SseOptions): Response {
  const afterId = options.lastEventId ?? c.req.header('last-event-id');
  checkEventId(afterId);
  if (c.req.method === 'HEAD') return c.body(null, 200, headers); // there is no reader to cancel the stream

  const { log, stopping, streams } = c.get('server');
  const buffer = createEventBuffer(options.bufferBytes ?? limits.sseBufferBytes, options);
  buffer.retryAfter(limits.sseRetryMs);
  if (stopping.aborted) {
    buffer.end('stopping');
    return c.body(buffer.stream, 200, headers);
  }
  streams.add(callerKey(c), buffer.signal);
  holdFlight(c, buffer.signal);
  stopping.addEventListener('abort', () => buffer.end('stopping'), { once: true, signal: buffer.signal });
  buffer.signal.addEventListener('abort', () => dropLater(c), { once: true });

  const fail = (error: unknown) => {
    if (buffer.signal.aborted) return; // the stream had ended already
    log.error({ err: error, request_id: c.get('requestId') }, 'an event stream failed');
    buffer.end('failed');
  };
  keepAlive(c, buffer, options).catch(fail);
  const principal: Principal | undefined = c.get('principal');
  if (principal)
    c.get('server').revocations?.add(
      principal,
      () => endIfRevoked(c, buffer, options, true).then(() => {}, fail),
      buffer.signal,
    );
  options.subscribe(afterId, buffer).then(() => buffer.end('done'), fail);
  return c.body(buffer.stream, 200, headers);
}

// A stream counts as a request in flight of its address while it is open: an account may create any number of end
// users, each of which may have some.
function holdFlight<A extends Auth>(c: Context<ApiEnv<A>>, signal: AbortSignal): void {
  const flight = c.get('flight');
  if (!flight) return;
  flight.freeBody();
  c.set('flight', undefined);
  signal.addEventListener('abort', () => flight.leave(), { once: true });
}

async function keepAlive<A extends Auth>(c: Context<ApiEnv<A>>, buffer: EventBuffer, options: SseOptions) {
  const { clock } = c.get('server');
  const { heartbeatMs = limits.sseHeartbeatMs, lifetimeMs = limits.sseLifetimeMs } = options;
  for (let leftMs = lifetimeMs; leftMs > 0; leftMs -= heartbeatMs) {
    await clock.sleep(Math.min(heartbeatMs, leftMs), buffer.signal);
    if (await endIfRevoked(c, buffer, options)) return;
    buffer.comment('still here');
  }
  buffer.end('lifetime');
}

// A stream outlasts its request: in the meantime its token may have expired or been revoked.
async function endIfRevoked<A extends Auth>(
  c: Context<ApiEnv<A>>,
  buffer: EventBuffer,
  options: SseOptions,
  fresh = false,
): Promise<boolean> {
  if (!(await isStillKnown(c, fresh))) buffer.end('unauthenticated');
  else if (!(await isStillLetIn(c, options))) buffer.end('refused');
  return buffer.signal.aborted;
}

async function isStillKnown<A extends Auth>(c: Context<ApiEnv<A>>, fresh: boolean): Promise<boolean> {
  const principal: Principal | undefined = c.get('principal');
  if (principal === undefined || principal.kind === 'provider') return true;
  const token = bearerToken(c.req.header('authorization'))!;
  const caller = { token, requestId: c.get('requestId'), address: c.get('address'), fresh };
  const found = await c.get('server').authenticate(caller);
  // A caller whose rights have changed opens the stream again, if they still may.
  return found !== undefined && found.kind !== 'provider' && found.scope === principal.scope;
}

async function isStillLetIn<A extends Auth>(c: Context<ApiEnv<A>>, { enter }: SseOptions): Promise<boolean> {
  try {
    await c.get('enterAgain')?.();
    await enter?.();
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

// A consumer that stops reading would keep its connection and its buffer.
function dropLater<A extends Auth>(c: Context<ApiEnv<A>>): void {
  const outgoing = c.env?.outgoing;
  if (!outgoing || outgoing.destroyed) return;
  const closed = new AbortController();
  outgoing.once('close', () => closed.abort());
  c.get('server')
    .clock.sleep(limits.sseGraceMs, closed.signal)
    .then(
      () => outgoing.destroy(),
      () => {},
    );
}

const idShape = new RegExp(`^[\\x20-\\x7e]{1,${limits.eventIdChars}}$`);

function checkEventId(id: string | undefined): void {
  if (id === undefined || idShape.test(id)) return;
  throw refuse('http.request_invalid', 'The Last-Event-ID is not one of ours.', {
    errors: [
      { in: 'header', pointer: '#/Last-Event-ID', code: 'invalid_format', detail: 'Start without it' },
    ],
  });
}
