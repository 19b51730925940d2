import { type Api, type ApiSettings, accessLog, createApi, listen } from '@stak/http';
import type { createTableStores } from '@stak/http/table';
import type { Clock, Ids, Logger, watchEventLoop } from '@stak/kit';
import { tableErrors } from '@stak/table';
import { endpointsOf, type Services } from '../compose/compose.ts';
import { apiInfo } from '../compose/document.ts';
import type { ServerConfig } from '../config/config.ts';
import { commit, version } from '../config/version.ts';
import { annotate } from '../http/reference/annotate.ts';
import type { createMetrics } from './metrics.ts';
import { serveMetrics } from './metrics-server.ts';

type Served = {
  clock: Clock;
  log: Logger;
  ids: Ids;
  shared: ReturnType<typeof createTableStores>;
  publicUrl: string;
  services: Services;
  metrics: ReturnType<typeof createMetrics>;
  exposed: ExposedMetrics;
  eventLoop: ReturnType<typeof watchEventLoop>;
  readiness: Pick<ApiSettings, 'checks' | 'warnings'>;
};
type ExposedMetrics = ReturnType<ReturnType<typeof createMetrics>['expose']>;

export function createServerApi(
  config: ServerConfig,
  { clock, log, ids, shared, publicUrl, services, metrics, exposed, eventLoop, readiness }: Served,
): Api {
  const record = accessLog(log);
  return createApi({
    info: apiInfo,
    describe: annotate,
    endpoints: endpointsOf(services),
    guards: services.guards,
    errors: [tableErrors, ...services.all.map(service => service.errors)],
    authenticate: services.authenticate,
    clock,
    log,
    ids,
    idempotency: shared.idempotency,
    revocations: shared.revocations,
    rateLimits: { store: shared.rateLimits, ...ratePolicies(config) },
    inFlight: {
      requestsPerAddress: config.connectionsPerAddress,
      bodyBytes: config.bodyMemoryMb * 1024 * 1024,
    },
    isHttps: publicUrl.startsWith('https:'),
    trustedProxyHops: config.trustedProxyHops,
    corsOrigins: config.corsOrigins,
    ...readiness,
    eventLoop: eventLoop.delay,
    build: { version, ...(commit !== undefined && { commit }) },
    // With a separate address, metrics are served nowhere else.
    metrics: config.metricsAddress
      ? { contentType: exposed.contentType, read: exposed.read, admits: () => false }
      : exposed,
    observe: request => {
      metrics.observe(request);
      record(request);
    },
  });
}

const ratePolicies = ({ requestsPerMinute, webhooksPerMinute }: ServerConfig) =>
  ({
    perPrincipal: { name: 'principal', limit: requestsPerMinute, windowMs: 60_000 },
    // Callers without a token need fewer requests.
    perAddress: {
      name: 'address',
      limit: Math.ceil(requestsPerMinute / 2),
      windowMs: 60_000,
      by: 'address',
    },
    perWebhookAddress: { name: 'webhook address', limit: webhooksPerMinute, windowMs: 60_000, by: 'address' },
  }) as const;

// Listens for the API, and for metrics if they have a separate address.
export async function listenOn(
  api: Api,
  exposed: ExposedMetrics,
  config: ServerConfig,
  { clock, log }: { clock: Clock; log: Logger },
) {
  const { metricsAddress } = config;
  const metricsServer = metricsAddress ? await serveMetrics(metricsAddress, exposed) : undefined;
  try {
    const listening = await listen(api, {
      host: config.host,
      port: config.port,
      lameDuckMs: config.drainSeconds * 1000,
      clock,
      log,
      // A proxy's connections carry all callers: then only requests are counted, by the address that it passes on.
      ...(config.trustedProxyHops === 0 && { connectionsPerAddress: config.connectionsPerAddress }),
    });
    return {
      ...listening,
      async close(options: { isAtOnce: boolean }) {
        const unanswered = await listening.close(options);
        await metricsServer?.close();
        return unanswered;
      },
    };
  } catch (error) {
    await metricsServer?.close();
    throw error;
  }
}
