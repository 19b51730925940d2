import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { startTracing } from '../src/config/tracing.ts';
import { startServer } from '../src/process/server.ts';
import { startModel } from './model-server.ts';

type Attribute = {
  key: string;
  value: { stringValue?: string; intValue?: number; doubleValue?: number; arrayValue?: unknown };
};
type Span = {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Attribute[];
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

async function listen(answer: (request: IncomingMessage, body: string) => number) {
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    response.writeHead(answer(request, body)).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close().closeAllConnections() };
}

let folder: string;
type Point = { attributes: Attribute[]; asDouble?: number; count?: string; sum?: number } & {
  bucketCounts?: string[];
  explicitBounds?: number[];
};
type Metric = {
  name: string;
  sum?: { dataPoints: Point[]; isMonotonic: boolean };
  gauge?: { dataPoints: Point[] };
  histogram?: { dataPoints: Point[] };
};

let spans: Span[];
let metrics: Metric[];
let collector: Awaited<ReturnType<typeof listen>>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-tracing-'));
  spans = [];
  metrics = [];
  // An OTLP receiver, as the specification has it.
  collector = await listen((request, body) => {
    expect(request.headers['api-key']).toBe('a=b');
    if (request.url === '/v1/metrics') {
      const [{ resource, scopeMetrics }] = JSON.parse(body).resourceMetrics;
      expect(resource.attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'shop' } });
      metrics = scopeMetrics[0].metrics;
      return 200;
    }
    expect(request.url).toBe('/v1/traces');
    const { resourceSpans } = JSON.parse(body) as {
      resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[];
    };
    for (const { resource, scopeSpans } of resourceSpans) {
      expect(resource.attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'shop' } });
      spans.push(...scopeSpans.flatMap(one => one.spans));
    }
    return 200;
  });
});
afterEach(async () => {
  collector.close();
  await rm(folder, { recursive: true });
});

const open = async (settings: Record<string, string> = {}) => {
  const lines: string[] = [];
  const config = readServerConfig(
    { port: 0, path: join(folder, 'data'), demo: false },
    {
      STAK_LAKE: 'off',
      STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
      STAK_WORKERS: '1',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%3Db',
      OTEL_SERVICE_NAME: 'shop',
      ...settings,
    },
  );
  const stopTracing = await startTracing(config.tracing!);
  const server = await startServer(config, {
    log: createLogger({ level: 'info', destination: { write: line => void lines.push(line) } }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  return {
    url: server.localUrl,
    lines,
    async stop() {
      await server.stop();
      await stopTracing();
    },
  };
};

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

test('one trace leads from a webhook to its destination, across a restart', { timeout: 60_000 }, async () => {
  let status = 500;
  const arrived: string[] = [];
  const destination = await listen(request => {
    arrived.push(String(request.headers.traceparent));
    return status;
  });
  try {
    let server = await open();
    const { data } = await createClient({ baseUrl: server.url }).accounts.signUp({
      body: { email: 'you@example.com', password: 'a long enough password', name: 'You', cookie: false },
    });
    const client = createClient({ baseUrl: server.url, token: data.access_token });
    const { data: source } = await client.webhooks.createSource({ body: { name: 'Shop' } });
    await client.webhooks.createConnection({
      sourceId: source.sourceId,
      body: {
        name: 'Billing',
        destinationUrl: destination.url,
        retryConfig: { delaysS: [1, 1, 1, 1] },
      },
    });
    const answer = await fetch(new URL(new URL(source.ingestUrl!).pathname, server.url), {
      method: 'POST',
      headers: { traceparent },
      body: '{}',
    });
    expect(answer.status).toBe(200);
    await expect.poll(() => arrived.length).toBeGreaterThan(0);
    const request = server.lines.map(line => JSON.parse(line)).find(one => one.route?.includes('/in/'));
    expect(request).toMatchObject({ trace_id: traceId });
    await server.stop();
    status = 200;
    const before = arrived.length;
    server = await open();
    await expect.poll(() => arrived.length, { timeout: 20_000 }).toBeGreaterThan(before);
    await server.stop();
  } finally {
    destination.close();
  }

  const found = spans.filter(span => span.traceId === traceId);
  const named = (name: RegExp) => found.filter(span => name.test(span.name));
  const parentOf = (span: Span) => found.find(({ spanId }) => spanId === span.parentSpanId);
  const [received] = named(/^POST \/in\//);
  expect(received).toMatchObject({ parentSpanId: '00f067aa0ba902b7' });
  const deliveries = named(/^deliver webhook$/);
  expect(deliveries.length).toBe(arrived.length);
  for (const delivery of deliveries) expect(parentOf(delivery)).toBe(received);
  const sent = named(/^POST 127\.0\.0\.1:/);
  // Each request carries the span that made it.
  expect(arrived.toSorted()).toEqual(sent.map(({ spanId }) => `00-${traceId}-${spanId}-01`).toSorted());
  for (const span of sent) expect(parentOf(span)?.name).toBe('deliver webhook');
  const writes = named(/^store /).filter(span => parentOf(span) === received);
  expect(writes.map(({ name }) => name)).toContain('store ingest');
  const units = writes.flatMap(({ attributes }) =>
    attributes.filter(({ key }) => key === 'stak.store.units'),
  );
  expect(units.some(({ value }) => Number(value.intValue ?? value.doubleValue) > 0)).toBe(true);
});

test('the message about a failed delivery is in the trace, and the collector receives the metrics', async () => {
  const destination = await listen(() => 500);
  const server = await open();
  try {
    const { data } = await createClient({ baseUrl: server.url }).accounts.signUp({
      body: { email: 'you@example.com', password: 'a long enough password', name: 'You', cookie: false },
    });
    const client = createClient({ baseUrl: server.url, token: data.access_token });
    const { data: source } = await client.webhooks.createSource({ body: { name: 'Shop' } });
    await client.webhooks.createConnection({
      sourceId: source.sourceId,
      body: { name: 'Billing', destinationUrl: destination.url, retryConfig: { delaysS: [] } },
    });
    const ingest = new URL(new URL(source.ingestUrl!).pathname, server.url);
    await fetch(ingest, { method: 'POST', headers: { traceparent }, body: '{}' });
    const { data: minted } = await client.accounts.mintInboxToken({});
    const inbox = createClient({ baseUrl: server.url, token: minted.token });
    const read = () =>
      inbox.inbox.feed({ tenant_id: minted.tenant_id, inbox_key: 'alerts', uid: minted.sub });
    await expect.poll(async () => (await read()).data.data.length).toBe(1);
  } finally {
    await server.stop();
    destination.close();
  }
  const found = spans.filter(span => span.traceId === traceId);
  const consumed = found.find(({ name }) => name === 'consume webhooks-alerts')!;
  const parent = found.find(({ spanId }) => spanId === consumed.parentSpanId);
  expect(parent?.name).toBe('deliver webhook');
  const within = found.filter(({ parentSpanId }) => parentSpanId === consumed.spanId);
  expect(within.map(({ name }) => name)).toContain('store publish to users');

  const named = (name: string) => metrics.find(one => one.name === name)!;
  const ofIngest = named('stak_http_request_seconds').histogram!.dataPoints.find(({ attributes }) =>
    attributes.some(({ value }) => value.stringValue?.includes('/in/')),
  )!;
  expect(ofIngest.count).toBe('1');
  expect(ofIngest.bucketCounts).toHaveLength(ofIngest.explicitBounds!.length + 1);
  expect(ofIngest.bucketCounts!.map(Number).reduce((sum, one) => sum + one)).toBe(1);
  const calls = named('stak_store_calls_total').sum!;
  expect(calls.isMonotonic).toBe(true);
  expect(calls.dataPoints.some(({ asDouble }) => asDouble! > 0)).toBe(true);
  expect(named('stak_processes').gauge!.dataPoints).toMatchObject([{ asDouble: 1 }]);
});

// A question to an agent that may use one skill, as part of the caller's trace.
async function askAgent(modelUrl: string): Promise<{ reply: string; found: Span[] }> {
  const server = await open({
    STAK_OPENAI_URL: modelUrl,
    STAK_MODEL: 'openai-compatible/local',
    STAK_EMBEDDING_MODEL: 'openai-compatible/small',
  });
  let reply: string;
  try {
    const { data } = await createClient({ baseUrl: server.url }).accounts.signUp({
      body: { email: 'you@example.com', password: 'a long enough password', name: 'You', cookie: false },
    });
    const client = createClient({ baseUrl: server.url, token: data.access_token });
    const tenant_id = 'shop';
    await client.tenants.create({ body: { tenant_id, name: 'Shop', status: 'active' } });
    const settings = { enabled_skills: ['search_history'] };
    await client.tenants.updateSettings({ tenant_id, body: settings }, { ifMatch: '*' });
    await client.tenants.createUser({ tenant_id, body: { user_id: 'ann', display_name: 'Ann' } });
    const minted = { sub: 'ann', scope: 'agents:chat' };
    const { token } = (await client.tenants.mintToken({ tenant_id, body: minted })).data;
    const ann = createClient({ baseUrl: server.url, token });
    const { conversation_id } = (await ann.agents.createConversation({ tenant_id, body: {} })).data;
    const path = `/v1/tenants/${tenant_id}/conversations/${conversation_id}/messages`;
    const answer = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: {
        traceparent,
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ content: 'a SECRET question' }),
    });
    reply = await answer.text();
  } finally {
    await server.stop();
  }
  return { reply, found: spans.filter(span => span.traceId === traceId) };
}

const attributesOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

test('model requests and skill calls are in the trace of their turn, without their content', async () => {
  const model = await startModel(messages =>
    messages.at(-1)!.role === 'tool'
      ? { text: 'a SECRET reply' }
      : { call: 'search_history', input: { query: 'a SECRET word' } },
  );
  const { reply, found } = await askAgent(model.url).finally(model.close);
  expect(reply).toContain('a SECRET reply');
  const turn = found.find(({ name }) => name === 'agent turn')!;
  expect(found.find(({ spanId }) => spanId === turn.parentSpanId)?.name).toMatch(/^POST .*messages$/);
  const within = found.filter(({ parentSpanId }) => parentSpanId === turn.spanId);
  const requests = within.filter(({ name }) => name === 'chat local');
  const shared = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai-compatible',
    'gen_ai.request.model': 'local',
    'gen_ai.response.model': 'local',
    'gen_ai.usage.input_tokens': 30,
    'gen_ai.usage.output_tokens': 8,
  };
  const finishedBy = (reason: string) => ({
    'gen_ai.response.finish_reasons': { values: [{ stringValue: reason }] },
  });
  expect(requests.map(attributesOf)).toMatchObject([
    { ...shared, ...finishedBy('tool-calls') },
    { ...shared, ...finishedBy('stop') },
  ]);
  const skill = found.find(({ name }) => name === 'execute_tool search_history')!;
  expect(attributesOf(skill)).toMatchObject({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'search_history',
  });
  const embedded = found.find(({ name }) => name === 'embeddings small')!;
  expect(embedded.parentSpanId).toBe(skill.spanId);
  expect(attributesOf(embedded)).toMatchObject({
    'gen_ai.operation.name': 'embeddings',
    'gen_ai.provider.name': 'openai-compatible',
    'gen_ai.request.model': 'small',
    'gen_ai.usage.input_tokens': 5,
  });
  expect(JSON.stringify(spans)).not.toContain('SECRET');
}, 30_000);

test('a failed model request is an error in its span, without the provider’s text', async () => {
  const model = createServer(async (request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: await readBody(request) } }));
  }).listen(0, '127.0.0.1');
  await once(model, 'listening');
  const { found } = await askAgent(`http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`).finally(
    () => model.close().closeAllConnections(),
  );
  const request = found.find(({ name }) => name === 'chat local')!;
  expect(attributesOf(request)).toMatchObject({ 'error.type': 'AI_APICallError' });
  expect(JSON.stringify(spans)).not.toContain('SECRET');
}, 30_000);

test('an unavailable collector delays nothing', async () => {
  collector.close();
  const server = await open();
  const answer = await fetch(`${server.url}/v1/plans`);
  expect(answer.status).toBe(200);
  const startedMs = performance.now();
  await server.stop();
  expect(performance.now() - startedMs).toBeLessThan(8_000);
}, 30_000);
