import { clientError, StakError } from './errors.ts';
import * as limits from './limits.ts';
import type { Request } from './request.ts';
import { type ClientSettings, type Fetch, sleepFor } from './settings.ts';

// Shared by all calls of a client.
export type Connection = {
  readonly settings: ClientSettings;
  readonly random: () => number;
  readonly newKey: () => string;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  // Sends once, or twice if the first token was refused and there is another one. `read` is part of the attempt.
  exchange<T>(request: Request, limits: AttemptLimits, read: (response: Response) => Promise<T>): Promise<T>;
};

type AttemptLimits = { signal?: AbortSignal; timeoutMs?: number };

export function createConnection(settings: ClientSettings): Connection {
  const send: Fetch = settings.fetch ?? ((url, init) => fetch(url, init));
  const { token, onUnauthorized } = settings;
  const readToken = async () => (typeof token === 'function' ? token() : token);
  let renewing: Promise<boolean> | undefined;

  // Concurrent calls that are refused renew the token once: using a refresh token twice ends the session.
  const mayTryAgain = async (used: string | undefined): Promise<boolean> => {
    if (!onUnauthorized) return false;
    if (!renewing && (await readToken()) !== used) return true; // another call has renewed it
    renewing ??= Promise.resolve(onUnauthorized()).finally(() => {
      renewing = undefined;
    });
    return renewing;
  };

  const attempt = async <T>(
    request: Request,
    bearer: string | undefined,
    { signal, timeoutMs = settings.timeoutMs ?? limits.timeoutMs }: AttemptLimits,
    read: (response: Response) => Promise<T>,
  ): Promise<T> => {
    const timeout = timeoutMs === Number.POSITIVE_INFINITY ? undefined : AbortSignal.timeout(timeoutMs);
    const signals = [signal, timeout].filter(reason => reason !== undefined);
    const headers = { ...settings.headers, ...request.headers };
    if (bearer !== undefined) headers.Authorization ??= `Bearer ${bearer}`;
    try {
      const { url, method, body } = request;
      const init: RequestInit = {
        method,
        headers,
        body,
        signal: AbortSignal.any(signals),
        redirect: 'manual',
      };
      if (settings.credentials) init.credentials = settings.credentials;
      return await read(await send(url, init));
    } catch (error) {
      if (error instanceof StakError) throw error;
      signal?.throwIfAborted(); // an abort by the caller is not our error
      if (timeout?.aborted) throw clientError('client.timeout', `No answer after ${timeoutMs} ms.`, error);
      throw clientError('client.unreachable', 'The server could not be reached.', error);
    }
  };

  return {
    settings,
    random: settings.random ?? Math.random,
    newKey: settings.newKey ?? randomKey,
    sleep: settings.sleep ?? sleepFor,
    async exchange(request, attemptLimits, read) {
      const bearer = request.isPublic ? undefined : await readToken();
      try {
        return await attempt(request, bearer, attemptLimits, read);
      } catch (error) {
        if (!isTokenRefused(error) || !(await mayTryAgain(bearer))) throw error;
        return attempt(request, await readToken(), attemptLimits, read);
      }
    },
  };
}

// A wrong password also gives 401, and a new token would not help.
const isTokenRefused = (error: unknown): boolean =>
  error instanceof StakError && error.code === 'http.unauthenticated';

// Browsers have no `crypto.randomUUID` on pages served over plain http.
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('');
