import { createHash } from 'node:crypto';
import type { Logger } from '@stak/kit';
import { httpErrors, refuse } from '../errors.ts';
import * as limits from '../limits.ts';
import { problemOf, problemType } from '../problem.ts';

export type StoredResponse = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
};

export type Claim = {
  readonly key: string;
  readonly fingerprint: string; // of the request; another request with the same key is an error
  readonly ttlMs: number; // how long to keep the response
  readonly leaseMs: number; // how long an attempt that has died may block its key
};

// If the lease has expired and the key was taken over, neither function changes anything.
export type Attempt = {
  finish(response: StoredResponse): Promise<void>;
  abandon(): Promise<void>;
};

// The attempt that had the key first. Those that follow an unfinished one create things under the same ids as it did.
export type FirstAttempt = { readonly name: string; readonly atMs: number };

export type Begun =
  | {
      readonly kind: 'started';
      readonly attempt: Attempt;
      readonly first: FirstAttempt;
      readonly isRepeated: boolean; // an earlier attempt may have made the change
    }
  | { readonly kind: 'replay'; readonly response: StoredResponse }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'in_flight' };

// Only one of several calls of `begin` with the same key starts. The suite in test/idempotency-store-suite.ts is the
// contract.
export type IdempotencyStore = { begin(claim: Claim): Promise<Begun> };

const keyShape = new RegExp(`^[\\x21-\\x7e]{1,${limits.idempotencyKeyChars}}$`);
const keptHeaders = new Set(['content-type', 'location', 'etag', 'last-modified', 'link']);

export function checkKey(key: string): void {
  if (keyShape.test(key)) return;
  const detail = `An Idempotency-Key has 1 to ${limits.idempotencyKeyChars} visible ASCII characters`;
  throw refuse('http.request_invalid', 'The Idempotency-Key is not valid.', {
    errors: [{ in: 'header', pointer: '#/Idempotency-Key', code: 'invalid_format', detail }],
  });
}

// Hashed with the lengths of its parts, so that no caller can choose a key that equals another caller's.
export function hashParts(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest('base64url');
}

export type Started = Pick<Extract<Begun, { kind: 'started' }>, 'first' | 'isRepeated'>;

// Runs the handler once for each key, and stores its final response. A server error can be retried, and so can a
// response with its own Retry-After: a quota, or something busy.
export async function runOnce(
  store: IdempotencyStore,
  claim: Claim,
  { log, requestId }: { log: Logger; requestId: string },
  run: (begun: Started) => Promise<Response>,
): Promise<Response> {
  const begun = await store.begin(claim);
  if (begun.kind === 'replay') return replay(begun.response);
  if (begun.kind === 'mismatch')
    throw refuse('http.idempotency_mismatch', 'This Idempotency-Key was used for another request.');
  if (begun.kind === 'in_flight')
    throw refuse('http.request_in_flight', 'The first request with this Idempotency-Key is still running.', {
      retryAfterS: limits.idempotencyRetryS,
    });

  const { attempt } = begun;
  let response: Response;
  let body: Uint8Array<ArrayBuffer>;
  try {
    response = await run(begun);
    body = new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    await settle(attempt.abandon(), log);
    throw error;
  }
  const isTooLarge = body.length > limits.idempotencyBodyBytes;
  if (isTooLarge)
    log.error(
      { bytes: body.length, request_id: requestId },
      'a response is too large to be kept for its idempotency key',
    );
  const kept = isTooLarge ? notKept(requestId) : storable(response, body);
  const isLastWord = response.status < 500 && !response.headers.has('Retry-After');
  await settle(isLastWord ? attempt.finish(kept) : attempt.abandon(), log);
  return new Response(orNull(body), response);
}

// The change has been made: a failing store must not turn the response into an error.
const settle = (work: Promise<void>, log: Logger): Promise<void> =>
  work.catch((error: unknown) => log.error({ err: error }, 'an idempotency record was not settled at once'));

// Stores what belongs to the resource; cookies, delays and the like were for the first caller only.
function storable(response: Response, body: Uint8Array): StoredResponse {
  const headers = [...response.headers].filter(([name]) => keptHeaders.has(name));
  return { status: response.status, headers, body };
}

// The change was made: a retry must not make it again, although the response can no longer be returned.
function notKept(requestId: string): StoredResponse {
  const code = 'http.answer_not_kept';
  const detail = 'The request succeeded, but its response was too large to store. Read the resource instead.';
  const problem = problemOf(httpErrors.statuses[code], code, detail, requestId);
  const body = Buffer.from(JSON.stringify(problem));
  return { status: problem.status, headers: [['content-type', problemType]], body };
}

function replay({ status, headers, body }: StoredResponse): Response {
  const response = new Response(orNull(Buffer.from(body)), { status });
  for (const [name, value] of headers) response.headers.set(name, value);
  response.headers.set('Idempotency-Replayed', 'true');
  return response;
}

// A 204 must have no body, not even an empty one.
const orNull = (body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | null =>
  body.length === 0 ? null : body;
