import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from '@hono/zod-openapi';
import type { EventLoopDelay } from '@stak/kit';
import type { ServerContext } from '../context.ts';
import * as limits from '../limits.ts';
import { bearerToken, unauthenticated } from '../principal.ts';
import { readsOnly } from '../routes/reads-only.ts';
import { type AnyEndpoint, endpoint, json, route } from '../routes/route.ts';
import { hashParts } from '../stores/idempotency.ts';
import type { ApiDocument } from './openapi.ts';
import { nameSchemas } from './schema-names.ts';

// Rejects while something is not usable, or resolves with 'degraded'.
export type ReadyCheck = (signal: AbortSignal) => Promise<unknown>;

export type Metrics = {
  contentType: string;
  read(): Promise<string>;
  token?: string; // required of a reader
  admits?(request: IncomingMessage | undefined): boolean; // who may read them without a token; everyone, if absent
};

export type SystemSettings = {
  // Every request needs these: the server is not ready while one fails.
  checks?: Readonly<Record<string, ReadyCheck>>;
  // Requests can do without these for a while: they make the server degraded at most, and it stays ready.
  warnings?: Readonly<Record<string, ReadyCheck>>;
  metrics?: Metrics;
  eventLoop?: () => EventLoopDelay; // for /readyz
  document: () => Promise<ApiDocument>;
  build?: Build; // for /healthz
};

export type Build = { version: string; commit?: string };

const uncounted = { rate: false } as const; // refusing a probe would take the server down
const tags = ['system'];
const text = (description: string) => ({ description, content: { 'text/plain': { schema: z.string() } } });

const health = route({
  ...readsOnly,
  path: '/healthz',
  tenant: 'none',
  mcp: false,
  auth: 'public',
  summary: 'Check that the process runs',
  description: 'Answers 200 as long as the process runs.',
  tags,
  limits: uncounted,
  responses: {
    200: json(
      z.strictObject({
        status: z.literal('ok'),
        version: z.string().optional().describe('The version of the server.'),
        commit: z.string().optional().describe('The commit that it was built from, where that is known.'),
      }),
    ),
  },
});

const readiness = z.strictObject({
  status: z.enum(['ready', 'not_ready', 'stopping']),
  checks: z.record(z.string(), z.enum(['ok', 'degraded', 'failed'])),
  event_loop: z
    .strictObject({ p50_ms: z.number(), p99_ms: z.number(), max_ms: z.number() })
    .optional()
    .describe(
      'How late the serving thread was in the last ten to twenty seconds. With several processes, /metrics reports the worst.',
    ),
});

nameSchemas({ Readiness: readiness });

const ready = route({
  ...readsOnly,
  path: '/readyz',
  tenant: 'none',
  mcp: false,
  auth: 'public',
  summary: 'Check whether the server can take requests',
  description: 'Answers 200 if the server can take requests, and 503 if not.',
  tags,
  limits: uncounted,
  responses: { 200: json(readiness), 503: json(readiness, 'Not now') },
});

const openapi = route({
  ...readsOnly,
  path: '/openapi.json',
  tenant: 'none',
  mcp: false,
  auth: 'public',
  summary: 'Get this document',
  description: 'Returns this document as OpenAPI 3.1.',
  tags,
  responses: { 200: json(z.looseObject({ openapi: z.string() })) },
});

const metricsRoute = route({
  ...readsOnly,
  path: '/metrics',
  tenant: 'none',
  mcp: false,
  auth: 'public',
  summary: 'Get metrics for Prometheus',
  description: 'Returns counters in the text format of Prometheus.',
  tags,
  limits: uncounted,
  problems: ['http.unauthenticated'],
  responses: { 200: text('Metrics') },
});

export function systemEndpoints({
  checks = {},
  warnings = {},
  metrics,
  eventLoop,
  document,
  build,
}: SystemSettings): AnyEndpoint[] {
  let documentFile: Promise<{ text: string; zipped: Uint8Array<ArrayBuffer> }> | undefined;
  const readDocument = async () => {
    const text = JSON.stringify(await document());
    return { text, zipped: new Uint8Array(await promisify(gzip)(text)) };
  };
  const endpoints: AnyEndpoint[] = [
    endpoint(health, c => c.json({ status: 'ok' as const, ...build }, 200)),
    endpoint(ready, async c => {
      const server = c.get('server');
      if (server.draining.aborted) return c.json({ status: 'stopping' as const, checks: {} }, 503);
      const details = {
        checks: await runAll(checks, warnings, server),
        ...(eventLoop && describeDelay(eventLoop())),
      };
      return Object.values(details.checks).includes('failed')
        ? c.json({ status: 'not_ready' as const, ...details }, 503)
        : c.json({ status: 'ready' as const, ...details }, 200);
    }),
    endpoint(openapi, async c => {
      documentFile ??= readDocument();
      const { text, zipped } = await documentFile;
      const isZipped = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
      return c.body(isZipped ? zipped : text, 200, {
        'Content-Type': 'application/json',
        Vary: 'Accept-Encoding',
        ...(isZipped && { 'Content-Encoding': 'gzip' }),
      }) as never;
    }),
  ];
  if (metrics)
    endpoints.push(
      endpoint(metricsRoute, async c => {
        const header = c.req.header('authorization');
        const isAdmitted =
          metrics.token === undefined
            ? (metrics.admits?.(c.env?.incoming) ?? true)
            : isSame(bearerToken(header) ?? '', metrics.token);
        if (!isAdmitted) throw unauthenticated(header !== undefined);
        return c.text(await metrics.read(), 200, { 'Content-Type': metrics.contentType });
      }),
    );
  return endpoints;
}

const describeDelay = ({ p50Ms, p99Ms, maxMs }: EventLoopDelay) => ({
  event_loop: { p50_ms: p50Ms, p99_ms: p99Ms, max_ms: maxMs },
});

type CheckResult = 'ok' | 'degraded' | 'failed';

type Checks = Readonly<Record<string, ReadyCheck>>;

async function runAll(
  checks: Checks,
  warnings: Checks,
  { clock, log }: ServerContext,
): Promise<Record<string, CheckResult>> {
  const runOne = async (
    name: string,
    check: ReadyCheck,
    worst: CheckResult,
  ): Promise<[string, CheckResult]> => {
    const isOver = new AbortController();
    const tooLate = clock
      .sleep(limits.readyMs, isOver.signal)
      .then(() => Promise.reject(new Error('The check took too long')));
    try {
      const result = await Promise.race([check(isOver.signal), tooLate]);
      return [name, result === 'degraded' ? 'degraded' : 'ok'];
    } catch (error) {
      log.warn({ check: name, err: error }, worst === 'failed' ? 'not ready' : 'a check of readiness failed');
      return [name, worst];
    } finally {
      isOver.abort();
    }
  };
  const run = (some: Checks, worst: CheckResult) =>
    Object.entries(some).map(([name, check]) => runOne(name, check, worst));
  return Object.fromEntries(await Promise.all([...run(checks, 'failed'), ...run(warnings, 'degraded')]));
}

// Hashed first: the comparison needs equal lengths, and must not reveal them.
const isSame = (a: string, b: string): boolean =>
  timingSafeEqual(Buffer.from(hashParts(a)), Buffer.from(hashParts(b)));
