import type { HttpBindings } from '@hono/node-server';
import type { Clock, Ids, Logger } from '@stak/kit';
import type { StreamCount } from './events/stream-count.ts';
import type { Flight } from './input/in-flight.ts';
import type { Auth, Authenticate, PrincipalOf } from './principal.ts';
import type { RequestTenant } from './routes/guards.ts';
import type { RevocationWatch } from './stores/revocations.ts';

// Available to every handler, in addition to its validated input.
export type ServerContext = {
  clock: Clock;
  log: Logger;
  draining: AbortSignal; // aborted when the server is about to stop, but still responds
  stopping: AbortSignal;
  streams: StreamCount;
  revocations?: RevocationWatch; // without it, a stream is checked at every heartbeat only
  authenticate: Authenticate; // for streams, which outlast their request: a caller may be revoked in the meantime
};

type ApiVariables<A extends Auth> = {
  requestId: string;
  principal: PrincipalOf<A>;
  address: string | undefined;
  routeId: string;
  body: Uint8Array; // the exact bytes: signatures are computed over them
  tenant: RequestTenant | undefined; // that the route has entered
  enterAgain: (() => Promise<RequestTenant>) | undefined; // for streams, which outlast their request
  flight: Flight | undefined; // the resources that the request holds; none for probes
  // The caller's Idempotency-Key, bound to caller and route: for the record a service writes with its change.
  idempotencyKey: string | undefined;
  // For what the handler creates. With an Idempotency-Key they are the same each time the handler runs for that key.
  ids: Ids;
  // An earlier run for the same Idempotency-Key was not answered, and may have made the change.
  isRepeated: boolean | undefined;
  rateHeaders: Readonly<Record<string, string>> | undefined;
  problemCode: string | undefined; // of the response, if it is a problem
  server: ServerContext;
};

// A request that no Node server received, as in `app.request()` or Lambda, provides its own address, and the resource
// that it was made for if that is not the API.
type ApiBindings = Partial<HttpBindings> & { remoteAddress?: string; resource?: string };

export type ApiEnv<A extends Auth = Auth> = { Bindings: ApiBindings; Variables: ApiVariables<A> };
