import {
  type AnyEndpoint,
  type Authenticate,
  createApi,
  createMemoryIdempotency,
  createMemoryRateLimits,
  type Guards,
} from '@stak/http';
import type { Clock, ErrorCatalogue, Logger } from '@stak/kit';
import { tableErrors } from '@stak/table';

// The body of a successful response.
export type Call = (
  method: string,
  path: string,
  body?: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<string>;

export type Served = {
  endpoints: readonly AnyEndpoint[];
  guards: Guards;
  errors: readonly ErrorCatalogue[];
  authenticate: Authenticate;
  clock: Clock;
  log: Logger;
};

// A service's routes, called without a socket by a caller with the token. No rate limits apply.
export function serveInProcess({ endpoints, guards, errors, authenticate, clock, log }: Served) {
  const { app } = createApi({
    info: { title: 'Bench', version: '1' },
    endpoints,
    guards,
    errors: [...errors, tableErrors],
    authenticate,
    clock,
    log,
    idempotency: createMemoryIdempotency({ clock }),
    rateLimits: {
      store: createMemoryRateLimits(),
      perPrincipal: { name: 'principal', limit: 1e9, windowMs: 60_000 },
    },
  });
  return (token: string): Call =>
    async (method, path, body, headers) => {
      const response = await app.request(
        path,
        {
          method,
          headers: {
            Authorization: `Bearer ${token}`,
            ...(body && { 'Content-Type': 'application/json' }),
            ...headers,
          },
          ...(body && { body: JSON.stringify(body) }),
        },
        { remoteAddress: '203.0.113.7' },
      );
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text;
    };
}
