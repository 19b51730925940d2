import type { DynamoClient } from '@stak/table';
import { describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { delivery, sourcePointer } from '../src/tables.ts';
import { openDestination } from './destination.ts';
import { leap, openWebhooks, startWebhooks, until, untilLater } from './webhooks-fixture.ts';

// Stores behind a network: an answer is lost, or is late, or does not come for a while.

type Put = Parameters<DynamoClient['put']>[0];
const isOf =
  (start: string) =>
  ({ Item }: Put): boolean =>
    String(Item.SK).startsWith(start);
const lost = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const away = () => Object.assign(new Error('the store is away'), { name: 'StoreMovedException' });

// One process takes events and delivers none; the other one delivers them. The first put of a kind goes through `around`.
async function openPair(
  isMeant: (input: Put) => boolean,
  around: (put: () => Promise<object>) => Promise<object>,
) {
  let isDone = false;
  const first = await openWebhooks({
    wrap: client => ({
      ...client,
      mayLoseAnswers: true,
      put(input: Put) {
        if (isDone || !isMeant(input)) return client.put(input);
        isDone = true;
        return around(() => client.put(input));
      },
    }),
  });
  await first.stop();
  const remote = Object.assign({ ...first.engine.client }, { mayLoseAnswers: true });
  const second = await startWebhooks({ clock: first.clock }, remote, first.engine);
  const destination = await openDestination();
  const sourceId = await first.source();
  const connectionId = await first.connect(sourceId, destination.url);
  await leap(first.clock, limits.catchUpMs.at(-1)!); // its jobs are done
  const events = async (): Promise<{ eventId: string; status: string }[]> =>
    (await second.read(`/v1/sources/${sourceId}/events`)).data;
  return { first, second, destination, sourceId, connectionId, events, clock: first.clock };
}

describe('a stored event', () => {
  it('keeps its status when its write is repeated', async () => {
    const pair = await openPair(isOf('EVT#'), async put => {
      await put();
      await untilLater(pair.clock, async () => (await pair.events())[0]?.status === 'delivered');
      throw lost();
    });
    const eventId = await pair.first.send(pair.sourceId);
    expect(await pair.events()).toMatchObject([{ eventId, status: 'delivered' }]);
    expect(await pair.second.read(`/v1/events/${eventId}`)).toMatchObject({
      deliveries: [{ state: 'delivered', attempts: 1 }],
    });
  });

  it('is accepted, and delivered once, if others have seen its delivery before the write was repeated', async () => {
    const pair = await openPair(isOf('DLV#'), async put => {
      await put();
      const { Items = [] } = await pair.first.engine.client.scan({ TableName: delivery.table.name });
      const { eventId } = Items.find(({ SK }) => String(SK).startsWith('DLV#'))!;
      const versionOf = async () => {
        const key = { eventId, connectionId: pair.connectionId, run: 0 };
        return (await pair.first.store.get(delivery, key, { consistent: true }))!.version;
      };
      await untilLater(pair.clock, async () => (await versionOf()) > 1);
      throw lost();
    });
    const eventId = await pair.first.send(pair.sourceId);
    await untilLater(pair.clock, async () => (await pair.events())[0]?.status === 'delivered');
    expect(pair.destination.hits.map(hit => hit.headers['webhook-id'])).toEqual([eventId]);
  });

  it('is delivered, even if the process was suspended between writing its delivery and itself', async () => {
    const pair = await openPair(isOf('EVT#'), async put => {
      await leap(pair.clock, 2 * limits.leaseMs);
      await pair.clock.advance(5 * limits.scanMs);
      return put();
    });
    const eventId = await pair.first.send(pair.sourceId);
    await untilLater(pair.clock, async () => (await pair.events())[0]?.status === 'delivered');
    expect(pair.destination.hits.map(hit => hit.headers['webhook-id'])).toEqual([eventId]);
  });
});

describe('an unavailable store', () => {
  it('does not abort requests in flight because the queue cannot be read', async () => {
    let isAway = false;
    const hooks = await openWebhooks({
      changePosition: undefined,
      wrap: client => ({
        ...client,
        query: input => (isAway && input.IndexName === 'GSI2' ? Promise.reject(away()) : client.query(input)),
      }),
    });
    let finish = () => {};
    const destination = await openDestination((_, response) => {
      finish = () => void response.writeHead(200).end();
    });
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const eventId = await hooks.send(sourceId);
    await until(() => destination.hits.length === 1);
    isAway = true;
    await hooks.clock.advance(limits.timeoutMs - 1);
    isAway = false;
    finish();
    await until(async () => (await hooks.read(`/v1/events/${eventId}`)).status === 'delivered');
    await leap(hooks.clock, limits.leaseMs);
    expect(destination.hits).toHaveLength(1);
  });

  it('gets the result of a request when it is back, instead of another request', async () => {
    let isAway = false;
    const hooks = await openWebhooks({
      wrap: client => ({
        ...client,
        transactWrite: input => (isAway ? Promise.reject(away()) : client.transactWrite(input)),
      }),
    });
    const destination = await openDestination((_, response) => {
      isAway = true;
      response.writeHead(200).end();
    });
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const eventId = await hooks.send(sourceId);
    await until(() => isAway);
    await hooks.clock.advance(limits.leaseMs / 3);
    isAway = false;
    const status = async () => (await hooks.read(`/v1/events/${eventId}`)).status;
    await untilLater(hooks.clock, async () => (await status()) === 'delivered');
    expect(destination.hits).toHaveLength(1);
  });
});

describe('a source that the index does not list yet', () => {
  async function openBesideLateIndex() {
    const first = await openWebhooks();
    let isLate = true;
    const { client } = first.engine;
    const remote: DynamoClient = Object.assign(
      { ...client },
      {
        mayLoseAnswers: true as const,
        query: async (input: Parameters<DynamoClient['query']>[0]) =>
          isLate && input.IndexName !== undefined ? { Items: [], Count: 0 } : client.query(input),
      },
    );
    const second = await startWebhooks({ clock: first.clock }, remote, first.engine);
    const sourceId = await first.source();
    // As a server of an earlier version leaves it.
    const forgetOwner = () => first.store.delete(sourcePointer, { sourceId });
    // The clock moves until there is an answer.
    const arrive = async (id = sourceId): Promise<Response> => {
      const responses: Response[] = [];
      void Promise.resolve(second.ingest(id)).then(one => responses.push(one));
      await untilLater(first.clock, () => responses.length > 0, 50);
      return responses[0]!;
    };
    const catchUp = () => {
      isLate = false;
    };
    return { first, second, sourceId, arrive, catchUp, forgetOwner };
  }

  it('is found by another server at once, and so is its account', async () => {
    const { second, sourceId } = await openBesideLateIndex();
    expect((await second.ingest(sourceId)).status).toBe(200);
    expect(await second.webhooks.ownerOfSource(sourceId)).toBeDefined();
    expect(await second.webhooks.sources.getById(sourceId)).toMatchObject({ sourceId });
  });

  it('is found as soon as it does, if an earlier version created it', async () => {
    const { second, first, sourceId, catchUp, forgetOwner } = await openBesideLateIndex();
    await forgetOwner();
    const answer = second.ingest(sourceId);
    await until(() => first.clock.sleepers() > 0);
    catchUp();
    await first.clock.advance(limits.newSourceWaitsMs[0]!);
    expect((await answer).status).toBe(200);
  });

  it('is then worth another try for a minute, and unknown after that', async () => {
    const { first, arrive, sourceId, forgetOwner } = await openBesideLateIndex();
    await forgetOwner();
    const early = await arrive();
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await arrive(`${sourceId}x`)).status).toBe(404);
    await leap(first.clock, limits.newSourceMs);
    expect((await arrive()).status).toBe(404);
  });
});
