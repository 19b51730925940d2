import { expect, it } from 'vitest';
import { openDestination } from './destination.ts';
import { openWebhooks, until } from './webhooks-fixture.ts';

// Sources and connections that another program writes exactly as the document describes, with nanoids.

const ids = { sourceId: 'src_V1StGXR8_Z5jdHi6', connectionId: 'conn_-2ZgQ0mKJ1xS_dVb' };
const createdAt = '2026-01-01T00:00:00.000Z';
const sourceItem = {
  PK: 'USER#usr_ann',
  SK: `SRC#${ids.sourceId}`,
  GSI3PK: `SRCID#${ids.sourceId}`,
  GSI3SK: 'SOURCE',
  sourceId: ids.sourceId,
  userId: 'usr_ann',
  name: 'Stripe Prod',
  provider: 'custom',
  signingAlgorithm: 'hmac-sha256',
  status: 'active',
  eventCount: 12,
  createdAt,
};
const connectionItem = (destinationUrl: string) => ({
  PK: `SRC#${ids.sourceId}`,
  SK: `CONN#${ids.connectionId}`,
  ...ids,
  userId: 'usr_ann',
  name: 'Prod',
  destinationUrl,
  signingSecret: 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0',
  filters: '[]',
  transform: '{"type":"passthrough"}',
  retryConfig: '{}',
  status: 'active',
  deliveryCount: 3,
  failureCount: 1,
  createdAt,
  updatedAt: createdAt,
});

const put = (hooks: Awaited<ReturnType<typeof openWebhooks>>, Item: Record<string, unknown>) =>
  hooks.engine.client.put({ TableName: 'ferryhook-main', Item });
const get = async (hooks: Awaited<ReturnType<typeof openWebhooks>>, PK: string, SK: string) =>
  (await hooks.engine.client.get({ TableName: 'ferryhook-main', Key: { PK, SK } })).Item!;

it.each(['embedded', 'sdk'] as const)('are read, used and edited over the %s client', async over => {
  const hooks = await openWebhooks({ over });
  const destination = await openDestination();
  await put(hooks, { ...sourceItem, signingSecret: 'shh' });
  await put(hooks, connectionItem(destination.url));
  const path = `/v1/sources/${ids.sourceId}`;

  expect((await hooks.read('/v1/sources')).data).toMatchObject([
    { sourceId: ids.sourceId, signatures: 'reject', hasSigningSecret: true, signingAlgorithm: 'hmac-sha256' },
  ]);
  expect((await hooks.read(`${path}/connections`)).data).toMatchObject([
    { connectionId: ids.connectionId, filters: [], ordered: false, breaker: 'closed' },
  ]);
  expect(await hooks.read(`/v1/connections/${ids.connectionId}`)).toMatchObject({ name: 'Prod' });
  expect((await hooks.call(path, { as: 'bob' })).status).toBe(404);
  const edited = await hooks.call(path, { method: 'PATCH', send: { signatures: 'off' } });
  expect([edited.status, edited.headers.get('etag')]).toEqual([200, '"v2"']);

  // What the document has and this service does not use stays; secrets are sealed now.
  const [stored, connection] = [
    await get(hooks, sourceItem.PK, sourceItem.SK),
    await get(hooks, `SRC#${ids.sourceId}`, `CONN#${ids.connectionId}`),
  ];
  expect([stored.eventCount, connection.deliveryCount]).toEqual([12, 3]);
  expect(JSON.stringify([stored, connection])).not.toMatch(/shh|whsec_/);

  const eventId = await hooks.send(ids.sourceId, 'a');
  await until(() => destination.hits.length === 1);
  expect((await hooks.read(`/v1/events/${eventId}`)).sourceId).toBe(ids.sourceId);
});

it('receive webhooks at once, before anybody has listed them', async () => {
  const hooks = await openWebhooks();
  const destination = await openDestination();
  await put(hooks, sourceItem);
  await put(hooks, connectionItem(destination.url));
  await hooks.send(ids.sourceId, 'a');
  await until(() => destination.hits.length === 1);
});

it.each([
  ['an unknown provider', { ...sourceItem, provider: 'acme' }],
  ['an unknown algorithm', { ...sourceItem, signingAlgorithm: 'rot13' }],
])('are left alone with %s', async (_, item) => {
  const hooks = await openWebhooks();
  await put(hooks, item);
  expect((await hooks.read('/v1/sources')).data).toEqual([]);
  expect((await hooks.call(`/v1/sources/${ids.sourceId}`)).status).toBe(404);
});
