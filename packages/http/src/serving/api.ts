import { channel } from 'node:diagnostics_channel';
import { setMaxListeners } from 'node:events';
import { OpenAPIHono } from '@hono/zod-openapi';
import {
  type Clock,
  createIds,
  type ErrorCatalogue,
  type EventLoopDelay,
  type Ids,
  type Logger,
  yieldToEventLoop,
} from '@stak/kit';
import type { Context, Next } from 'hono';
import { cors } from 'hono/cors';
import type { ApiEnv } from '../context.ts';
import { httpErrors } from '../errors.ts';
import { createStreamCount } from '../events/stream-count.ts';
import { readBody } from '../input/body.ts';
import { createInFlight, type InFlight, type InFlightLimits } from '../input/in-flight.ts';
import * as limits from '../limits.ts';
import { joinCatalogues } from '../problem.ts';
import type { Gate } from '../routes/access.ts';
import { addressKey } from '../routes/address.ts';
import type { Guards } from '../routes/guards.ts';
import { type AnyEndpoint, checkRoutes, methodsOf, type RouteSpec, withProblems } from '../routes/route.ts';
import type { IdempotencyStore } from '../stores/idempotency.ts';
import { createRevocationWatch, type Revocations } from '../stores/revocations.ts';
import { createMount, type Mount, type Mounted } from './mount.ts';
import { answerMissing } from './not-found.ts';
import { type ApiDocument, type ApiInfo, joinDocuments, registerEndpoints } from './openapi.ts';
import { createPlainServing, type ServePlain } from './plain-serving.ts';
import { hoistNamedSchemas } from './schema-names.ts';
import { securityHeaders } from './security-headers.ts';
import { answerError, enter, leave, type RequestRecord, type Serving, serveEndpoint } from './serving.ts';
import { type Build, type Metrics, type ReadyCheck, systemEndpoints } from './system-endpoints.ts';

export type ApiSettings = Gate & {
  describe?: (document: ApiDocument) => ApiDocument; // adds to the document what routes do not contain
  info: ApiInfo;
  endpoints: readonly AnyEndpoint[]; // of every service: `[...accounts.api, ...tenants.api]`
  guards: Guards; // of accounts, tenants and plans, for what routes declare
  errors?: readonly Pick<ErrorCatalogue, 'statuses'>[];
  clock: Clock;
  log: Logger;
  ids?: Ids;
  idempotency?: IdempotencyStore;
  isHttps?: boolean; // whether browsers reach us over https, here or at a proxy
  inFlight?: InFlightLimits;
  trustedProxyHops?: number; // how many proxies of ours append to X-Forwarded-For
  corsOrigins?: readonly string[]; // exact origins, like https://app.example
  checks?: Readonly<Record<string, ReadyCheck>>; // for /readyz: of what every request needs
  warnings?: Readonly<Record<string, ReadyCheck>>; // of what requests can do without for a while
  metrics?: Metrics;
  eventLoop?: () => EventLoopDelay; // for /readyz
  build?: Build; // for /healthz
  revocations?: Pick<Revocations, 'recent'>; // ends the open streams of a revoked caller within a second
  observe?: (record: RequestRecord) => void;
};

type AnswerBody = (body: Uint8Array) => Response | Promise<Response>;

export type Api = {
  app: Pick<OpenAPIHono<ApiEnv>, 'fetch' | 'request'>; // what it serves is a route, or mounted
  routes: readonly RouteSpec[]; // the services' and the system's, in the order they are matched
  document(): ApiDocument;
  inFlight: Pick<InFlight, 'usage'>;
  servePlain: ServePlain | undefined; // serves routes with a plain handler; undefined if other origins need headers
  mount: Mount; // for pages and files
  mounted: readonly Mounted[];
  // For handlers that are mounted: reads a body within the limits of the caller's address, and counts
  // the request until it is answered.
  withBody(c: Context<ApiEnv>, mostBytes: number, answer: AnswerBody): Promise<Response>;
  drain(): void; // /readyz fails from now on, so that proxies send no more requests; everything else continues
  stop(): void; // ends what would otherwise continue for ever: event streams
};

// Lets other code observe an API. The tests use it to check every response against the document.
const created = channel('stak:http:api');

export function createApi(settings: ApiSettings): Api {
  const { clock, log, info, trustedProxyHops = 0 } = settings;
  const draining = new AbortController();
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // every open stream listens
  const statuses = joinCatalogues([httpErrors, ...(settings.errors ?? [])]);
  const app = new OpenAPIHono<ApiEnv>();
  const { describe = (raw: ApiDocument) => raw } = settings;
  const describeIn = (described: OpenAPIHono<ApiEnv>) =>
    describe(hoistNamedSchemas(described.getOpenAPI31Document({ openapi: '3.1.0', info })));
  const document = () => describeIn(app);
  // Built route by route: the whole takes a second, and any caller may request it while others are served.
  const documentInParts = async (): Promise<ApiDocument> => {
    const parts: ApiDocument[] = [];
    for (const endpoint of endpoints) {
      const part = new OpenAPIHono<ApiEnv>();
      registerEndpoints(part.openAPIRegistry, [endpoint], statuses);
      parts.push(describeIn(part));
      await yieldToEventLoop();
    }
    return joinDocuments(parts);
  };

  const inFlight = createInFlight(settings.inFlight);
  const serving: Serving = {
    authenticate: settings.authenticate,
    rateLimits: settings.rateLimits,
    guards: settings.guards,
    server: {
      clock,
      log,
      draining: draining.signal,
      stopping: stopping.signal,
      streams: createStreamCount(),
      authenticate: settings.authenticate,
      ...(settings.revocations && {
        revocations: createRevocationWatch({
          recent: settings.revocations.recent,
          clock,
          log,
          stopping: stopping.signal,
        }),
      }),
    },
    ids: settings.ids ?? createIds({ clock }),
    statuses,
    baseHeaders: securityHeaders({ isHttps: settings.isHttps ?? false }),
    trustedProxyHops,
    inFlight,
    idempotency: settings.idempotency,
    observe: settings.observe,
  };

  const endpoints: AnyEndpoint[] = [
    ...settings.endpoints.flatMap(endpoint =>
      withProblems([endpoint], settings.guards.problemsOf(endpoint.route)),
    ),
    ...systemEndpoints({ ...settings, document: documentInParts }),
  ];
  const routes = endpoints.map(endpoint => endpoint.route);
  checkRoutes(routes);
  registerEndpoints(app.openAPIRegistry, endpoints, statuses);

  if (settings.corsOrigins?.length) app.use('*', allowOrigins(settings.corsOrigins));
  for (const endpoint of endpoints)
    app.on(
      methodsOf(endpoint.route),
      [endpoint.route.path.replaceAll(/\{(\w+)\}/g, ':$1')],
      serveEndpoint(endpoint, serving),
    );
  app.notFound(c => answerMissing(c, routes, serving));
  app.onError((error, c) => {
    if (!c.get('requestId')) enter(c, serving);
    return leave(c, answerError(c, error, serving), clock.now(), serving);
  });

  const withBody: Api['withBody'] = async (c, mostBytes, answer) => {
    enter(c, serving);
    const flight = inFlight.enter(addressKey(c.get('address')));
    try {
      return await answer(await readBody(c, { mostBytes, mostMs: limits.bodyMs, clock, flight }));
    } finally {
      flight.leave();
    }
  };

  const drain = () => draining.abort();
  const stop = () => {
    drain();
    stopping.abort();
  };
  const servePlain = settings.corsOrigins?.length ? undefined : createPlainServing(endpoints, serving);
  created.publish({ app });
  return { app, routes, ...createMount(app, routes), document, inFlight, servePlain, withBody, drain, stop };
}

const exposedHeaders = [
  'ETag',
  'Idempotency-Ignored',
  'Idempotency-Replayed',
  'Location',
  'Mcp-Session-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'WWW-Authenticate', // shows an app without a token where to start
  'X-Request-Id',
];

function allowOrigins(origins: readonly string[]) {
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new TypeError(`"${origin}" is not an origin`);
  const answer = cors({
    origin: [...origins],
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: [
      'Authorization',
      'Content-Type',
      'Idempotency-Key',
      'If-Match',
      'If-None-Match',
      'Last-Event-ID',
      'Mcp-Method',
      'Mcp-Name',
      'Mcp-Protocol-Version',
      'Mcp-Session-Id',
      'X-Request-Id',
    ],
    exposeHeaders: exposedHeaders,
    maxAge: limits.corsMaxAgeS,
  });
  // An OPTIONS request without a method is not a preflight: a route for any method may handle it.
  return (c: Context<ApiEnv>, next: Next) =>
    c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') === undefined
      ? next()
      : answer(c, next);
}
