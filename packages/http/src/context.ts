import type { HttpBindings } from '@hono/node-server';
import type { Clock, Logger } from '@stak/kit';
import type { Flight } from './in-flight.ts';
import type { Auth, Authenticate, PrincipalOf } from './principal.ts';
import type { RevocationWatch } from './revocations.ts';
import type { StreamCount } from './stream-count.ts';

// What every handler may reach, besides its validated input.
export type ServerContext = {
  clock: Clock;
  log: Logger;
  draining: AbortSignal; // aborted when the server is about to stop, but still answers
  stopping: AbortSignal;
  streams: StreamCount;
  revocations?: RevocationWatch; // none: a stream is looked at again with every heartbeat only
  authenticate: Authenticate; // for what outlasts its request: a caller may be revoked meanwhile
};

type ApiVariables<A extends Auth> = {
  requestId: string;
  principal: PrincipalOf<A>;
  address: string | undefined;
  routeId: string;
  body: Uint8Array; // as it was sent: signatures are made over these bytes
  flight: Flight | undefined; // what the request holds; none for probes
  // The caller's Idempotency-Key, bound to caller and route: for the record a service writes with its change.
  idempotencyKey: string | undefined;
  rateHeaders: Readonly<Record<string, string>> | undefined;
  problemCode: string | undefined; // of the answer, if it is a problem
  server: ServerContext;
};

// A request that no Node server received, as in `app.request()` or Lambda, brings its address itself, and the resource
// that it was made for, if that is another one than the API.
type ApiBindings = Partial<HttpBindings> & { remoteAddress?: string; resource?: string };

export type ApiEnv<A extends Auth = Auth> = { Bindings: ApiBindings; Variables: ApiVariables<A> };
