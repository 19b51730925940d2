import type { DynamoClient } from '@stak/table';
import { describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { signDelivery } from '../src/signatures/signing.ts';
import { jobsOfUser } from '../src/tables.ts';
import { type Hit, openDestination } from './destination.ts';
import { openWebhooks, until, untilLater } from './webhooks-fixture.ts';

// A service that fails after it has made a transaction, when told so: as if its process had been killed.
async function openCut() {
  let isCut = false;
  const wrap = (client: DynamoClient): DynamoClient => ({
    ...client,
    async transactWrite(input) {
      const answer = await client.transactWrite(input);
      if (!isCut) return answer;
      isCut = false;
      throw new Error('killed after the change');
    },
  });
  const hooks = await openWebhooks({ wrap });
  const post = (path: string, send: object | undefined, key: string) =>
    hooks.call(path, { method: 'POST', send, headers: { 'Idempotency-Key': key } });
  // The first call is answered with an error after its change, the second one is its repetition.
  const postTwice = async (path: string, send?: object, meanwhile = async () => {}) => {
    isCut = true;
    const first = await post(path, send, 'key');
    expect([first.status, isCut]).toEqual([500, false]);
    await meanwhile();
    const second = await post(path, send, 'key');
    if (!second.ok) throw new Error(`${path}: ${second.status} ${await second.text()}`);
    return { body: (await second.json()) as ReturnType<typeof JSON.parse>, headers: second.headers };
  };
  return { hooks, post, postTwice };
}

const signaturesOf = (hit: Hit) => String(hit.headers['webhook-signature']).split(' ');
const signatureWith = (secret: string, { headers, body }: Hit) => {
  const eventId = String(headers['webhook-id']);
  const timestampS = Number(headers['webhook-timestamp']);
  const signed = signDelivery({ secrets: [secret], eventId, timestampS, body });
  return signed.find(([name]) => name.toLowerCase() === 'webhook-signature')![1];
};

describe('a request that is repeated with its key, because its answer was lost,', () => {
  it('creates one source, and shows its secret', async () => {
    const { hooks, postTwice } = await openCut();
    const { body, headers } = await postTwice('/v1/sources', { name: 'x', alertUrl: 'http://127.0.0.1/' });
    expect((await hooks.read('/v1/sources')).data).toMatchObject([{ sourceId: body.sourceId }]);
    expect(headers.get('location')).toBe(`/v1/sources/${body.sourceId}`);
    expect(body.alertSecret).toMatch(/^whsec_/);
    await hooks.send(body.sourceId);
  });

  it('creates one connection, and shows the secret that signs its deliveries', async () => {
    const { hooks, postTwice } = await openCut();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const send = { name: 'x', destinationUrl: destination.url };
    const { body } = await postTwice(`/v1/sources/${sourceId}/connections`, send);
    await hooks.send(sourceId);
    await until(() => destination.hits.length === 1);
    const [hit] = destination.hits;
    expect(signaturesOf(hit!)).toEqual([signatureWith(body.signingSecret, hit!)]);
    expect(await hooks.webhooks.connections.listBySource(sourceId)).toHaveLength(1);
  });

  it('rotates a secret once, so that the one before stays valid', async () => {
    const { hooks, postTwice } = await openCut();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const send = { name: 'x', destinationUrl: destination.url };
    const made = await hooks.post(`/v1/sources/${sourceId}/connections`, send);
    const { body, headers } = await postTwice(`/v1/connections/${made.connectionId}/rotate-secret`);
    expect(headers.get('etag')).toBe('"v2"');
    await hooks.send(sourceId);
    await until(() => destination.hits.length === 1);
    const [hit] = destination.hits;
    const both = [body.signingSecret, made.signingSecret].map(secret => signatureWith(secret, hit!));
    expect(signaturesOf(hit!)).toEqual(both);
  });

  it('rotates the secret of alerts once', async () => {
    const { hooks, postTwice } = await openCut();
    const made = await hooks.post('/v1/sources', { name: 'x', alertUrl: 'http://127.0.0.1/' });
    const { body, headers } = await postTwice(`/v1/sources/${made.sourceId}/rotate-alert-secret`);
    expect(headers.get('etag')).toBe('"v2"');
    expect(body.alertSecret).toMatch(/^whsec_/);
    expect(body.alertSecret).not.toBe(made.alertSecret);
  });

  it('replays an event once, even if that replay and another one have finished', async () => {
    const { hooks, post, postTwice } = await openCut();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const eventId = await hooks.send(sourceId);
    const isDelivered = async () => (await hooks.read(`/v1/events/${eventId}`)).status === 'delivered';
    await until(isDelivered);
    const { body } = await postTwice(`/v1/events/${eventId}/replay`, {}, async () => {
      await untilLater(hooks.clock, async () => destination.hits.length === 2 && (await isDelivered()));
      expect((await post(`/v1/events/${eventId}/replay`, {}, 'another')).status).toBe(202);
      await until(async () => destination.hits.length === 3 && (await isDelivered()));
    });
    expect(body).toEqual({ deliveries: 1 });
    await hooks.clock.advance(2 * limits.scanMs);
    expect(destination.hits).toHaveLength(3);
  });

  it('creates one job, even if that has finished', async () => {
    const { hooks, postTwice } = await openCut();
    const sourceId = await hooks.source();
    const jobs = async () => (await hooks.store.query(jobsOfUser, { userId: 'usr_ann' })).items;
    const { body } = await postTwice(`/v1/sources/${sourceId}/jobs`, {}, () =>
      untilLater(hooks.clock, async () => (await jobs())[0]?.state === 'done'),
    );
    expect(body.state).toBe('done');
    expect(await jobs()).toMatchObject([{ jobId: body.jobId }]);
  });
});

it('a request that is repeated while its first run is slow creates one source', async () => {
  let runFirst: (() => Promise<unknown>) | undefined;
  const hooks = await openWebhooks({
    wrap: client => ({
      ...client,
      async transactWrite(input) {
        if (runFirst) {
          await runFirst(); // after the second one has looked for the source
          return client.transactWrite(input);
        }
        return new Promise((resolve, reject) => {
          runFirst = () => client.transactWrite(input).then(resolve, reject);
        });
      },
    }),
  });
  const create = () =>
    hooks.call('/v1/sources', {
      method: 'POST',
      send: { name: 'x' },
      headers: { 'Idempotency-Key': 'key' },
    });
  const first = create();
  await until(() => runFirst);
  await hooks.clock.advance(60_000); // the lease of the key
  const second = await create();
  expect([(await first).status, second.status]).toEqual([201, 201]);
  const { sourceId } = (await second.json()) as { sourceId: string };
  expect((await hooks.read('/v1/sources')).data).toMatchObject([{ sourceId }]);
});
