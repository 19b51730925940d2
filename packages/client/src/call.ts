import type { Connection } from './connection.ts';
import { clientError, errorOf, StakError } from './errors.ts';
import * as limits from './limits.ts';
import type { Answer, CallOptions, Operation } from './operation.ts';
import { buildRequest, type Request } from './request.ts';

// Makes one call, with as many attempts as it needs and may make.
export async function callOperation(
  connection: Connection,
  operation: Operation,
  args: Readonly<Record<string, unknown>>,
  options: CallOptions,
): Promise<Answer<unknown>> {
  const { settings } = connection;
  const request = buildRequest(operation, args, settings.baseUrl);
  // All attempts have the same key, so that repeating the request is safe.
  if (operation.isKeyed) request.headers['Idempotency-Key'] = options.idempotencyKey ?? connection.newKey();
  else if (options.idempotencyKey !== undefined)
    throw clientError('client.argument_refused', 'This operation takes no idempotency key.');
  if (options.ifMatch !== undefined) request.headers['If-Match'] = options.ifMatch;
  Object.assign(request.headers, options.headers);
  const isRepeatable = operation.isKeyed || isHarmlessTwice(request);
  const retries = options.retries ?? settings.retries ?? limits.retries;

  for (let attempt = 0; ; attempt++) {
    try {
      return await connection.exchange(request, options, readAnswer);
    } catch (error) {
      if (!(error instanceof StakError) || attempt >= retries) throw error;
      const delayMs = retryDelayMs(error, isRepeatable, attempt, connection.random);
      if (delayMs === undefined) throw error;
      await connection.sleep(delayMs, options.signal);
    }
  }
}

// An edit whose response was lost may have been made, and a retry would find another version than it expects.
const isHarmlessTwice = ({ method, headers }: Request): boolean =>
  method === 'GET' || ((method === 'PUT' || method === 'DELETE') && headers['If-Match'] === undefined);

// The request may or may not have been carried out.
const lostCodes = new Set(['client.unreachable', 'client.timeout']);
const lostStatuses = new Set([502, 503, 504]);

// How long to wait before the next attempt; undefined if there must not be one.
export function retryDelayMs(
  error: StakError,
  isRepeatable: boolean,
  attempt: number,
  random: () => number,
): number | undefined {
  const { status, code, retryAfterMs } = error;
  // A request that was refused before it began can always be retried; the server says when.
  const isRefused =
    retryAfterMs !== undefined && (status === 429 || status === 503 || code === 'http.request_in_flight');
  const isLost = lostCodes.has(code) || lostStatuses.has(status);
  if (!isRefused && !(isLost && isRepeatable)) return undefined;
  if (retryAfterMs !== undefined && retryAfterMs > limits.retryAfterMostMs) return undefined;
  // Full jitter: clients that failed together do not retry together.
  return (retryAfterMs ?? 0) + random() * Math.min(limits.retryMostMs, limits.retryFirstMs * 2 ** attempt);
}

async function readAnswer(response: Response): Promise<Answer<unknown>> {
  if (!response.ok) throw await errorOf(response);
  const { status, headers } = response;
  return {
    data: await readData(response),
    status,
    etag: headers.get('etag') ?? undefined,
    request_id: headers.get('x-request-id') ?? '',
    isReplayed: headers.get('idempotency-replayed') === 'true',
    headers,
  };
}

async function readData(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (response.status === 204) return undefined;
  if (/^text\//i.test(type)) return response.text();
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) return new Uint8Array(await response.arrayBuffer());
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch (error) {
    throw clientError('client.answer_invalid', 'The server announced JSON and sent something else.', error);
  }
}
