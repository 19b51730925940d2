import { describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { source } from '../src/main-table.ts';
import { openDestination } from './destination.ts';
import { openWebhooks, until } from './webhooks-fixture.ts';

const json = async (response: Response) =>
  [response.status, (await response.json()) as Record<string, unknown>] as const;

describe('sources', () => {
  it('are created, listed, edited by version and deleted', async () => {
    const hooks = await openWebhooks();
    const made = await hooks.call('/v1/sources', {
      method: 'POST',
      send: { name: 'Stripe', provider: 'stripe', signingSecret: 'whsec_x' },
    });
    const etag = made.headers.get('etag')!;
    const created = (await made.json()) as { sourceId: string };
    expect(created).toMatchObject({
      hasSigningSecret: true,
      signatures: 'reject',
      status: 'active',
      eventCount: 0,
      ingestUrl: `https://hooks.example/in/${created.sourceId}`,
    });
    expect(JSON.stringify(created)).not.toContain('whsec_x');
    const path = `/v1/sources/${created.sourceId}`;
    const edit = (send: object, ifMatch: string) =>
      hooks.call(path, { method: 'PATCH', send, headers: { 'If-Match': ifMatch } });
    const [status, edited] = await json(await edit({ name: 'Stripe live', alertUrl: null }, etag));
    expect([status, edited.name]).toEqual([200, 'Stripe live']);
    for (const lost of [etag, '"vabc"', `"v${'9'.repeat(400)}"`])
      expect((await edit({ name: 'Lost' }, lost)).status).toBe(412);
    expect((await hooks.read('/v1/sources')).data).toMatchObject([{ name: 'Stripe live' }]);
    expect((await hooks.call(path, { method: 'DELETE' })).status).toBe(204);
    expect((await hooks.call(path)).status).toBe(404);
    expect((await hooks.read('/v1/sources')).data).toEqual([]);
  });

  it('let the limits of a connection be reset', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const limited = { maxConcurrency: 3, ratePerSecond: 5 };
    const path = `/v1/connections/${await hooks.connect(sourceId, destination.url, limited)}`;
    const send = { maxConcurrency: null, ratePerSecond: null };
    const [status, edited] = await json(await hooks.call(path, { method: 'PATCH', send }));
    expect([status, edited.maxConcurrency, edited.ratePerSecond]).toEqual([200, 16, undefined]);
  });

  it('encrypt their secrets', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source({ signingSecret: 'plain secret', verifyToken: 'plain token' });
    const stored = await hooks.store.get(source, { userId: 'usr_ann', sourceId });
    expect(JSON.stringify(stored)).not.toContain('plain');
    expect(stored!.signingSecret).toMatch(/^s1\./);
  });

  it('belong to one account, and do not exist for another', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    const eventId = await hooks.send(sourceId);
    const job = await hooks.post(`/v1/sources/${sourceId}/jobs`, { eventIds: [eventId] });
    const body = { as: 'bob', method: 'POST', send: {} };
    const probes: [string, object][] = [
      [`/v1/sources/${sourceId}`, { as: 'bob' }],
      [`/v1/sources/${sourceId}`, { as: 'bob', method: 'PATCH', send: { name: 'x' } }],
      [`/v1/sources/${sourceId}`, { as: 'bob', method: 'DELETE' }],
      [`/v1/sources/${sourceId}/connections`, { as: 'bob' }],
      [
        `/v1/sources/${sourceId}/connections`,
        { as: 'bob', method: 'POST', send: { name: 'x', destinationUrl: 'https://a.example' } },
      ],
      [`/v1/sources/${sourceId}/events`, { as: 'bob' }],
      [`/v1/sources/${sourceId}/tail`, { as: 'bob' }],
      [`/v1/sources/${sourceId}/jobs`, body],
      [`/v1/connections/${connectionId}`, { as: 'bob' }],
      [`/v1/connections/${connectionId}`, { as: 'bob', method: 'PATCH', send: { name: 'x' } }],
      [`/v1/connections/${connectionId}`, { as: 'bob', method: 'DELETE' }],
      [`/v1/connections/${connectionId}/rotate-secret`, { as: 'bob', method: 'POST' }],
      [`/v1/connections/${connectionId}/test`, body],
      [`/v1/events/${eventId}`, { as: 'bob' }],
      [`/v1/events/${eventId}/body`, { as: 'bob' }],
      [`/v1/events/${eventId}/replay`, body],
      [`/v1/events/${eventId}/cancel`, body],
      [`/v1/webhook-jobs/${job.jobId}`, { as: 'bob' }],
      [`/v1/webhook-jobs/${job.jobId}/cancel`, { as: 'bob', method: 'POST' }],
      [`/v1/webhook-analytics?sourceId=${sourceId}`, { as: 'bob' }],
    ];
    for (const [path, init] of probes)
      expect([path, (await hooks.call(path, init)).status]).toEqual([path, 404]);
    for (const path of ['/v1/sources', '/v1/webhook-jobs', '/v1/webhook-alerts'])
      expect((await hooks.read(path, { as: 'bob' })).data).toEqual([]);
  });

  it('are limited in number', async () => {
    const hooks = await openWebhooks();
    const create = (i: number) => hooks.webhooks.sources.create({ userId: 'usr_ann', name: `${i}` });
    for (let i = 2; i < limits.sourcesPerUser; i++) await create(i);
    const last = await Promise.allSettled(Array.from({ length: 5 }, (_, i) => create(i)));
    expect(last.filter(one => one.status === 'fulfilled')).toHaveLength(2);
    const [status, problem] = await json(
      await hooks.call('/v1/sources', { method: 'POST', send: { name: 'x' } }),
    );
    expect([status, problem.code]).toEqual([409, 'webhooks.too_many_sources']);
  });
});

describe('connections', () => {
  it('show their secret once, and sign with two while it is rotated', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const made = await hooks.post(`/v1/sources/${sourceId}/connections`, {
      name: 'x',
      destinationUrl: destination.url,
    });
    expect(made.signingSecret).toMatch(/^whsec_/);
    const path = `/v1/connections/${made.connectionId}`;
    expect(JSON.stringify(await hooks.read(path))).not.toContain('whsec_');
    const rotated = await hooks.read(`${path}/rotate-secret`, { method: 'POST' });
    expect(rotated.signingSecret).not.toBe(made.signingSecret);
    const signatures = async (n: number) => {
      await hooks.send(sourceId);
      await until(() => destination.hits.length === n);
      return String(destination.hits[n - 1]!.headers['webhook-signature']).split(' ').length;
    };
    expect(await signatures(1)).toBe(2);
    hooks.clock.set(hooks.clock.now() + limits.rotationMs + 1);
    expect(await signatures(2)).toBe(1);
  });

  it.each([
    ['filters', { filters: [{ field: 'body', path: '$..[', operator: 'exists' }] }],
    ['a regex', { filters: [{ field: 'method', operator: 'regex', value: '(' }] }],
    ['a transform', { transform: { type: 'shell' } }],
    ['a schedule', { retryConfig: { delaysS: [0] } }],
    ['an unknown field', { color: 'red' }],
    ['too much at a time', { maxConcurrency: 101 }],
    ['a name', { name: 'bell\u0007' }],
    ['half a name', { name: '\ud800' }],
  ])('refuse impossible %s', async (_, settings) => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    const send = { name: 'x', destinationUrl: 'https://a.example', ...settings };
    const refused = await hooks.call(`/v1/sources/${sourceId}/connections`, { method: 'POST', send });
    expect(refused.status).toBe(400);
  });

  it('can be tested with a sample, showing every step', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination((_, response) => void response.writeHead(418).end('teapot'));
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url, {
      filters: [{ field: 'body', path: '$.kind', operator: 'equals', value: 'order' }],
      transform: { type: 'field_map', fields: [{ to: '$.id', from: '$.order.id' }] },
    });
    const test = (send: object) => hooks.post(`/v1/connections/${connectionId}/test`, send);
    const filtered = await test({ body: '{"kind":"cart"}' });
    expect(filtered).toMatchObject({ filter: { matched: false, steps: [{ matched: false }] } });
    expect(filtered.request).toBeUndefined();
    const shown = await test({ body: '{"kind":"order","order":{"id":7}}' });
    expect(shown).toMatchObject({
      filter: { matched: true },
      transform: { ok: true },
      request: { method: 'POST' },
    });
    expect(JSON.parse(Buffer.from(shown.request.body, 'base64').toString())).toEqual({ id: 7 });
    expect(destination.hits).toEqual([]);
    const sent = await test({ body: '{"kind":"order","order":{"id":7}}', send: true });
    expect(sent.response).toMatchObject({ statusCode: 418, responseBody: 'teapot' });
    expect((await hooks.read(`/v1/sources/${sourceId}/events`)).data).toEqual([]);
  });
});
