import { createHmac } from 'node:crypto';
import { createMemoryRateLimits } from '@stak/http';
import { describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { openDestination } from './destination.ts';
import { generous, openWebhooks, until, untilLater } from './webhooks-fixture.ts';

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');
const github = (secret: string, body: string, delivery: string) => ({
  'x-hub-signature-256': `sha256=${hmac(secret, body)}`,
  'x-github-delivery': delivery,
});
const codeOf = async (response: Response): Promise<[number, string]> => [
  response.status,
  ((await response.json()) as { code: string }).code,
];

describe('ingest', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('accepts %s', async method => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    const init = { method, ...(method === 'GET' ? {} : { body: 'x' }) };
    const response = await hooks.api.app.request(`/in/${sourceId}?a=1&b=%20`, init);
    expect(response.status).toBe(200);
    const { eventId } = (await response.json()) as { eventId: string };
    expect(await hooks.read(`/v1/events/${eventId}`)).toMatchObject({ method, query: 'a=1&b=%20' });
  });

  it('stores a body of 256 KB in parts, and refuses a longer one', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const body = new Uint8Array(limits.bodyBytes).map((_, i) => (i * 31) % 256);
    const eventId = await hooks.send(sourceId, body);
    const download = await hooks.call(`/v1/events/${eventId}/body`);
    expect(Buffer.from(await download.arrayBuffer()).equals(body)).toBe(true);
    await until(() => destination.hits.length === 1);
    expect(destination.hits[0]!.body.equals(body)).toBe(true);
    const tooLong = await hooks.ingest(sourceId, { body: new Uint8Array(limits.bodyBytes + 1) });
    expect(await codeOf(tooLong)).toEqual([413, 'http.body_too_large']);
  });

  it('responds 404 to ids that are unknown, deleted or malformed', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    await hooks.read(`/v1/sources/${sourceId}`, { method: 'DELETE' });
    for (const id of [sourceId, 'src_unknown', 'x', '%23%00', 'src_a%23b'])
      expect([id, (await hooks.ingest(id)).status]).toEqual([id, 404]);
  });

  it.each(['sha1', 'sha256', 'sha512'])('accepts hmac-%s as the name of an algorithm', async algorithm => {
    const hooks = await openWebhooks();
    const settings = { provider: 'custom', signingSecret: 'shared', signingAlgorithm: `hmac-${algorithm}` };
    const sourceId = await hooks.source(settings);
    const shown = await hooks.read(`/v1/sources/${sourceId}`);
    expect(shown).toMatchObject({ signingAlgorithm: `hmac-${algorithm}`, signatures: 'reject' });
    const signature = createHmac(algorithm, 'shared').update('x').digest('hex');
    const send = async (value: string) =>
      (await hooks.ingest(sourceId, { body: 'x', headers: { 'X-Signature': value } })).status;
    expect(
      await Promise.all([signature, signature.toUpperCase(), signature.replace(/^./, 'x')].map(send)),
    ).toEqual([200, 200, 401]);
    const detailed = { algorithm: 'sha256', header: 'X-Mine', encoding: 'base64' };
    const path = `/v1/sources/${sourceId}`;
    const edited = await hooks.read(path, { method: 'PATCH', send: { signingAlgorithm: detailed } });
    expect(edited.signingAlgorithm).toEqual(detailed);
    const refused = { method: 'PATCH', send: { signingAlgorithm: 'hmac-md5' } };
    expect((await hooks.call(path, refused)).status).toBe(400);
  });

  it("enforces the plan: rate, month's quota, size of the body", async () => {
    const plan = { ...generous, eventsPerMinute: 3, bodyBytes: 10 };
    const hooks = await openWebhooks({ plan, counts: true });
    const sourceId = await hooks.source();
    expect(await codeOf(await hooks.ingest(sourceId, { body: 'x'.repeat(11) }))).toEqual([
      413,
      'webhooks.body_too_large',
    ]);
    await hooks.send(sourceId);
    await hooks.send(sourceId);
    const limited = await hooks.ingest(sourceId);
    expect(limited.headers.get('retry-after')).toBe('20');
    expect(await codeOf(limited)).toEqual([429, 'webhooks.rate_limited']);
    await hooks.clock.advance(20_000);
    await hooks.send(sourceId);
    await untilLater(hooks.clock, async () => (await hooks.usage('usr_ann')) === 3, limits.flushMs);

    const poor = await openWebhooks({ plan: { ...generous, eventsPerMonth: 2 }, counts: true });
    const other = await poor.source();
    await poor.send(other);
    await poor.send(other);
    expect(await codeOf(await poor.ingest(other))).toEqual([402, 'webhooks.quota_exceeded']);
    await poor.clock.advance(10_000); // reported, and read again
    expect(await codeOf(await poor.ingest(other))).toEqual([402, 'webhooks.quota_exceeded']);
  });

  it('notifies at 80 % and 100 % of the month once each, and retries after a failure', async () => {
    const told: number[] = [];
    let isDown = false;
    const hooks = await openWebhooks({
      plan: { ...generous, eventsPerMonth: 10 },
      counts: true,
      onShareUsed: async ({ userId, percent, eventsPerMonth }) => {
        expect([userId, eventsPerMonth]).toEqual(['usr_ann', 10]);
        if (isDown) throw new Error('down');
        told.push(percent);
      },
    });
    const sourceId = await hooks.source();
    const send = async (count: number) => {
      for (let i = 0; i < count; i++) await hooks.send(sourceId);
    };
    await send(7);
    expect(told).toEqual([]);
    isDown = true;
    await send(1);
    isDown = false;
    await send(1);
    expect(told).toEqual([80]);
    await hooks.clock.advance(10_000); // what is known of the plan is read again
    await send(1);
    expect(told).toEqual([80, 100]);
    for (let i = 0; i < 3; i++) expect((await hooks.ingest(sourceId)).status).toBe(402);
    expect(told).toEqual([80, 100]);
  });

  it('limits the requests to each source, verified or not, without affecting others', async () => {
    const hooks = await openWebhooks({ requestsPerSource: 3 });
    const flooded = await hooks.source({ provider: 'github', signingSecret: 'a secret' });
    const other = await hooks.source();
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await hooks.ingest(flooded)).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    const limited = await hooks.ingest(flooded);
    expect([limited.headers.get('retry-after'), (await codeOf(limited))[1]]).toEqual([
      '20',
      'webhooks.rate_limited',
    ]);
    await hooks.send(other);
    for (let i = 0; i < 5; i++) expect((await hooks.ingest(`src_none${i}`)).status).toBe(404);
  });

  it('counts what an address sends, to any source', async () => {
    const perWebhookAddress = { name: 'webhook address', limit: 2, windowMs: 60_000, by: 'address' } as const;
    const rateLimits = { store: createMemoryRateLimits(), perWebhookAddress };
    const hooks = await openWebhooks({ api: { rateLimits } });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await hooks.ingest(`src_none${i}`)).status);
    expect(statuses).toEqual([404, 404, 429]);
  });

  it('refuses a request without a valid signature, or stores it as rejected', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source({ provider: 'github', signingSecret: 'old secret' });
    await hooks.connect(sourceId, destination.url);
    const body = '{"zen":1}';
    await hooks.send(sourceId, body, github('old secret', body, 'd1'));
    for (const headers of [{}, github('other', body, 'd2'), github('old secret', `${body} `, 'd3')])
      expect(
        await codeOf(await hooks.ingest(sourceId, { body, headers: headers as Record<string, string> })),
      ).toEqual([401, 'webhooks.signature_refused']);

    await hooks.read(`/v1/sources/${sourceId}`, {
      method: 'PATCH',
      send: { signatures: 'store', signingSecret: 'new secret' },
    });
    await hooks.send(sourceId, body, github('new secret', body, 'd4'));
    await hooks.send(sourceId, body, github('old secret', body, 'd5')); // for a day
    const rejected = await hooks.send(sourceId, body, github('wrong', body, 'd6'));
    expect(await hooks.read(`/v1/events/${rejected}`)).toMatchObject({
      status: 'rejected',
      rejection: 'mismatch',
      deliveries: [],
    });
    await until(() => destination.hits.length === 3);
    await hooks.clock.advance(limits.sourceCacheMs);
    hooks.clock.set(hooks.clock.now() + limits.rotationMs);
    const late = await hooks.send(sourceId, body, github('old secret', body, 'd7'));
    expect((await hooks.read(`/v1/events/${late}`)).status).toBe('rejected');
  });

  it('checks signatures from the first secret on, unless told otherwise', async () => {
    const hooks = await openWebhooks();
    const edit = (sourceId: string, send: object) =>
      hooks.read(`/v1/sources/${sourceId}`, { method: 'PATCH', send });
    const sourceId = await hooks.source({ provider: 'github' });
    await hooks.send(sourceId);
    expect(await edit(sourceId, { signingSecret: 'secret' })).toMatchObject({ signatures: 'reject' });
    expect(await codeOf(await hooks.ingest(sourceId))).toEqual([401, 'webhooks.signature_refused']);
    await hooks.send(sourceId, '{}', github('secret', '{}', 'd1'));
    expect(await edit(sourceId, { signatures: 'off' })).toMatchObject({ signatures: 'off' });
    expect(await edit(sourceId, { signingSecret: 'next' })).toMatchObject({ signatures: 'off' });
    const other = await hooks.source({ provider: 'github' });
    const chosen = { signingSecret: 'secret', signatures: 'store' };
    expect(await edit(other, chosen)).toMatchObject({ signatures: 'store' });
  });

  const base64 = 'YSBzZWNyZXQgb2YgMzIgYnl0ZXMsIGluIGJhc2U2NCE=';
  const template = {
    algorithm: 'sha512',
    encoding: 'base64',
    prefix: 'v2=',
    template: '{id}/{timestamp}/{body}',
  };
  const named = { header: 'X-Mine', timestampHeader: 'X-Time', idHeader: 'X-Id', secretEncoding: 'base64' };
  it.each([
    { provider: 'stripe' },
    { provider: 'github' },
    { provider: 'shopify' },
    { provider: 'slack' },
    { provider: 'twilio' },
    { provider: 'standard-webhooks' },
    { provider: 'custom' },
    { provider: 'custom', signingAlgorithm: 'hmac-sha1' },
    { provider: 'custom', signingAlgorithm: { ...template, ...named } },
    { provider: 'sendgrid', signatures: 'off' },
  ])('sends a test event like %j', async settings => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source({ signingSecret: base64, ...settings });
    await hooks.connect(sourceId, destination.url);
    for (let n = 1; n <= 2; n++) {
      const { eventId } = await hooks.post(`/v1/sources/${sourceId}/test-event`, undefined);
      await until(() => destination.hits.length === n);
      const { headers, rejection } = await hooks.read(`/v1/events/${eventId}`);
      expect(rejection).toBeUndefined();
      expect(headers).toContainEqual(['X-Stak-Test', 'true']);
    }
  });

  it('reports why a test event cannot be signed, and sends none to sources of others', async () => {
    const hooks = await openWebhooks();
    const refusal = async (settings: object, as?: string) => {
      const path = `/v1/sources/${await hooks.source(settings)}/test-event`;
      return codeOf(await hooks.call(path, { method: 'POST', as }));
    };
    const base64Key = { algorithm: 'sha256', header: 'x-mine', encoding: 'hex', secretEncoding: 'base64' };
    const cannotSign = [409, 'webhooks.cannot_sign'];
    expect(await refusal({ provider: 'sendgrid', signingSecret: base64 })).toEqual(cannotSign);
    expect(await refusal({ provider: 'stripe', signatures: 'reject' })).toEqual(cannotSign);
    expect(await refusal({ provider: 'stak' })).toEqual(cannotSign);
    expect(await refusal({ signingSecret: 'not base64!', signingAlgorithm: base64Key })).toEqual(cannotSign);
    expect(await refusal({}, 'bob')).toEqual([404, 'webhooks.source_not_found']);
  });

  it('responds to a duplicate with the first event, also if they arrive together', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source({ provider: 'github', signingSecret: 's' });
    await hooks.connect(sourceId, destination.url);
    const body = '{}';
    const headers = github('s', body, 'same');
    const first = await hooks.send(sourceId, body, headers);
    const again = await hooks.ingest(sourceId, { body, headers });
    expect(await again.json()).toMatchObject({ eventId: first, duplicate: true });
    const others = github('s', body, 'together');
    const ids = await Promise.all(Array.from({ length: 10 }, () => hooks.send(sourceId, body, others)));
    expect(new Set(ids).size).toBe(1);
    await until(() => destination.hits.length === 2);
    expect((await hooks.read(`/v1/sources/${sourceId}/events`)).data).toHaveLength(2);
    hooks.clock.set(hooks.clock.now() + limits.dedupeS * 1000 + 1000);
    expect(await hooks.send(sourceId, body, headers)).not.toBe(first);
  });

  it('does not let a sender without the secret use up an id', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source({ provider: 'github', signingSecret: 's', signatures: 'store' });
    const forged = await hooks.send(sourceId, '{}', github('wrong', '{}', 'id'));
    const real = await hooks.send(sourceId, '{}', github('s', '{}', 'id'));
    expect(real).not.toBe(forged);
    expect((await hooks.read(`/v1/events/${real}`)).rejection).toBeUndefined();
  });

  it('answers handshakes, and stores none of them', async () => {
    const hooks = await openWebhooks();
    const whatsapp = await hooks.source({ verifyToken: 'tok' });
    const query = 'hub.mode=subscribe&hub.verify_token=tok&hub.challenge=12345';
    const verified = await hooks.api.app.request(`/in/${whatsapp}?${query}`);
    expect([verified.status, await verified.text()]).toEqual([200, '12345']);
    const slack = await hooks.source({ provider: 'slack', signingSecret: 's' });
    const body = JSON.stringify({ type: 'url_verification', challenge: 'abc' });
    const ts = String(Math.floor(hooks.clock.now() / 1000));
    const headers = {
      'x-slack-request-timestamp': ts,
      'x-slack-signature': `v0=${hmac('s', `v0:${ts}:${body}`)}`,
    };
    const challenged = await hooks.ingest(slack, { body, headers });
    expect([challenged.status, await challenged.text()]).toEqual([200, expect.stringContaining('abc')]);
    const unsigned = await hooks.ingest(slack, { body });
    expect(unsigned.status).toBe(401);
    for (const id of [whatsapp, slack])
      expect((await hooks.read(`/v1/sources/${id}/events`)).data).toEqual([]);
  });

  it('creates a delivery for the first connection of a source at once in every process, for others within a second', async () => {
    const hooks = await openWebhooks();
    const { startWebhooks } = await import('./webhooks-fixture.ts');
    const other = await startWebhooks({ clock: hooks.clock }, hooks.engine.client, hooks.engine);
    const destination = await openDestination();
    const sourceId = await hooks.source();
    await hooks.send(sourceId);
    await other.send(sourceId);
    await hooks.connect(sourceId, destination.url);
    const deliveriesOf = async (eventId: string) =>
      (await hooks.read(`/v1/events/${eventId}`)).deliveries.length;
    expect(await deliveriesOf(await hooks.send(sourceId))).toBe(1);
    expect(await deliveriesOf(await other.send(sourceId))).toBe(1);
    await hooks.connect(sourceId, destination.url);
    expect(await deliveriesOf(await hooks.send(sourceId))).toBe(2);
    await hooks.clock.advance(limits.sourceCacheMs);
    expect(await deliveriesOf(await other.send(sourceId))).toBe(2);
  });
});
