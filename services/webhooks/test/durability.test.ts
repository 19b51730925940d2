import { manualOwners } from '@stak/kit';
import { createStore, type DynamoClient } from '@stak/table';
import { describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { dueWork } from '../src/tables.ts';
import { answer, openDestination } from './destination.ts';
import { leap, openWebhooks, startWebhooks, until, untilLater } from './webhooks-fixture.ts';

const writes = ['put', 'update', 'delete', 'batchWrite', 'transactWrite'] as const;

// The client of a process that dies at its nth write: just before the write is applied, or just after, before its result
// is known. After that every call fails.
function crashingClient(client: DynamoClient, diesAt: number, when: 'before' | 'after') {
  let left = Number.POSITIVE_INFINITY;
  let isDead = false;
  const died = () => new Error('the process is dead');
  const wrapped = { ...client } as Record<string, unknown>;
  for (const name of Object.keys(client) as (keyof DynamoClient)[])
    wrapped[name] = async (input: never) => {
      if (isDead) throw died();
      if (!(writes as readonly string[]).includes(name)) return client[name](input);
      left -= 1;
      if (left > 0) return client[name](input);
      isDead = true;
      if (when === 'after') await client[name](input);
      throw died();
    };
  return {
    client: wrapped as DynamoClient,
    arm: () => {
      left = diesAt;
    },
    isDead: () => isDead,
  };
}

const moments = Array.from({ length: 9 }, (_, i) => i + 1).flatMap(n => [
  [n, 'before'] as const,
  [n, 'after'] as const,
]);

describe('a process that dies', () => {
  it.each(moments)(
    'at write %i, %s it is made, loses nothing that was acknowledged',
    async (diesAt, when) => {
      let hit = 0;
      const [plain, ordered] = [
        await openDestination((_, response) => void response.writeHead(++hit % 3 === 0 ? 500 : 200).end()),
        await openDestination(),
      ];
      let crashing: ReturnType<typeof crashingClient> | undefined;
      const dying = await openWebhooks({
        wrap: client => {
          crashing = crashingClient(client, diesAt, when);
          return crashing.client;
        },
      });
      const sourceId = await dying.source();
      await dying.connect(sourceId, plain.url);
      await dying.connect(sourceId, ordered.url, { ordered: true });
      crashing!.arm();
      const acknowledged: string[] = [];
      for (let n = 0; n < 4; n++) {
        const response = await dying.ingest(sourceId, { body: JSON.stringify({ n }) });
        if (response.ok) acknowledged.push(((await response.json()) as { eventId: string }).eventId);
      }
      await untilLater(dying.clock, () => crashing!.isDead());
      await dying.stop();

      const next = await startWebhooks({ clock: dying.clock }, dying.engine.client, dying.engine);
      await leap(dying.clock, limits.leaseMs);
      await untilLater(
        dying.clock,
        async () => {
          const { data } = await next.read(`/v1/sources/${sourceId}/events`);
          return data.every((one: { status: string }) => one.status === 'delivered');
        },
        5000,
      );
      for (const eventId of acknowledged) {
        for (const destination of [plain, ordered])
          expect(
            destination.hits.filter(hit => hit.headers['webhook-id'] === eventId).length,
          ).toBeGreaterThan(0);
        const { attempts } = await next.read(`/v1/events/${eventId}`);
        expect(attempts.length).toBeGreaterThanOrEqual(2);
      }
      const orders = ordered.hits.map(hit => JSON.parse(hit.body.toString()).n as number);
      expect(orders).toEqual(orders.toSorted((a, b) => a - b)); // with repetitions, never out of order
    },
  );
});

// As on DynamoDB, where writes are made one after another instead of in a transaction.
const remote = (client: DynamoClient): DynamoClient => Object.assign({ ...client }, { mayLoseAnswers: true });

describe('a process that dies between two writes', () => {
  it.each(moments)('at write %i, %s it is made, leaves no work undone', async (diesAt, when) => {
    let hit = 0;
    const destination = await openDestination(
      (_, response) => void response.writeHead(++hit % 3 === 0 ? 500 : 200).end(),
    );
    let crashing: ReturnType<typeof crashingClient> | undefined;
    const dying = await openWebhooks({
      wrap: client => {
        crashing = crashingClient(client, diesAt, when);
        return remote(crashing.client);
      },
    });
    const sourceId = await dying.source();
    await dying.connect(sourceId, destination.url);
    crashing!.arm();
    const acknowledged: string[] = [];
    for (let n = 0; n < 4; n++) {
      const response = await dying.ingest(sourceId, { body: JSON.stringify({ n }) });
      if (response.ok) acknowledged.push(((await response.json()) as { eventId: string }).eventId);
    }
    await untilLater(dying.clock, () => crashing!.isDead());
    await dying.stop();

    const client = remote(dying.engine.client);
    const next = await startWebhooks({ clock: dying.clock }, client, dying.engine);
    const hitsOf = (eventId: string) =>
      destination.hits.filter(hit => hit.headers['webhook-id'] === eventId).length;
    const before = await next.read(`/v1/sources/${sourceId}/events?status=delivered`);
    const finished = before.data.map(({ eventId }: { eventId: string }) => [eventId, hitsOf(eventId)]);
    await leap(dying.clock, limits.leaseMs);
    const store = createStore({ client, clock: dying.clock });
    const isQuiet = async () => {
      const names = Array.from({ length: limits.dueShards }, (_, i) => `s${i}`);
      const shards = names.map(dueIn => store.query(dueWork, { dueIn }));
      const due = (await Promise.all(shards)).flatMap(({ items }) => items);
      return due.every(({ entity }) => entity === 'job');
    };
    await untilLater(dying.clock, isQuiet, 5000);
    const { data } = await next.read(`/v1/sources/${sourceId}/events`);
    const listed = data.map((one: { eventId: string }) => one.eventId);
    expect(listed).toEqual(expect.arrayContaining(acknowledged));
    for (const eventId of listed) {
      const { status, deliveries, attempts } = await next.read(`/v1/events/${eventId}`);
      expect(status).toBe('delivered');
      expect(deliveries).toMatchObject([{ state: 'delivered', attempts: attempts.length }]);
      expect(hitsOf(eventId)).toBeGreaterThan(0);
    }
    expect(finished.map(([eventId]: [string]) => [eventId, hitsOf(eventId)])).toEqual(finished);
    for (const { headers } of destination.hits) expect(listed).toContain(headers['webhook-id']);
  });
});

// Global indexes lag behind the table: each query returns what the query before it should have returned.
function laggingIndexes(client: DynamoClient): DynamoClient {
  const before = new Map<string, Awaited<ReturnType<DynamoClient['query']>>>();
  return {
    ...client,
    async query(input) {
      const answer = await client.query(input);
      if (input.IndexName === undefined) return answer;
      const key = `${input.IndexName} ${JSON.stringify(Object.values(input.ExpressionAttributeValues ?? {})[0])}`;
      const late = before.get(key) ?? { ...answer, Items: [], LastEvaluatedKey: undefined };
      before.set(key, answer);
      return late;
    },
  };
}

describe('delayed indexes', () => {
  it('delay deliveries and duplicate none', async () => {
    const hooks = await openWebhooks({ wrap: laggingIndexes, changePosition: undefined });
    const [flaky, ordered] = [await openDestination(answer(500)), await openDestination()];
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, flaky.url);
    await hooks.connect(sourceId, ordered.url, { ordered: true });
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push(await hooks.send(sourceId, JSON.stringify({ n })));
    expect(await hooks.read(`/v1/events/${ids[0]}`)).toMatchObject({ eventId: ids[0] });
    await untilLater(hooks.clock, () => flaky.hits.length === 6 && ordered.hits.length === 6);
    flaky.answer = answer(200);
    const path = `/v1/connections/${connectionId}`;
    await hooks.read(path, { method: 'PATCH', send: { status: 'paused' } });
    await leap(hooks.clock, limits.retryDelaysMs[1]!);
    await hooks.clock.advance(3000);
    expect(flaky.hits).toHaveLength(6);
    await hooks.read(path, { method: 'PATCH', send: { status: 'active' } });
    await untilLater(hooks.clock, () => flaky.hits.length === 12);
    await untilLater(hooks.clock, async () => {
      const { data } = await hooks.read(`/v1/sources/${sourceId}/events?status=delivered`);
      return data.length === 6;
    });
    await leap(hooks.clock, 60_000);
    expect([flaky.hits.length, ordered.hits.length]).toEqual([12, 6]);
  });
});

describe('several processes', () => {
  it('share the work: each delivery is made once', async () => {
    const first = await openWebhooks();
    const others = await Promise.all(
      [1, 2].map(() => startWebhooks({ clock: first.clock }, first.engine.client, first.engine)),
    );
    const destination = await openDestination(answer(500));
    const sourceId = await first.source();
    await first.connect(sourceId, destination.url, { retryConfig: { delaysS: [60] } });
    const all = [first, ...others];
    for (let n = 0; n < 9; n++) await all[n % 3]!.send(sourceId, JSON.stringify({ n }));
    await until(() => destination.hits.length === 9);
    const isRetrying = async () => {
      const { data } = await first.read(`/v1/sources/${sourceId}/events`);
      return data.every((one: { status: string }) => one.status === 'retrying');
    };
    await until(isRetrying);
    destination.answer = answer(200);
    await leap(first.clock, 60_000);
    await until(() => destination.hits.length === 18);
    await first.clock.advance(5000);
    const counts = new Map<unknown, number>();
    for (const { headers } of destination.hits)
      counts.set(headers['webhook-id'], (counts.get(headers['webhook-id']) ?? 0) + 1);
    expect([...counts.values()]).toEqual(Array(9).fill(2));
  });

  it('cancel nothing because of an unknown new connection', async () => {
    const first = await openWebhooks();
    const late = await startWebhooks({ clock: first.clock }, first.engine.client, first.engine);
    const destination = await openDestination();
    const sourceId = await first.source();
    await late.send(sourceId); // it caches a source without connections
    await first.stop();
    await first.connect(sourceId, destination.url);
    const eventId = await first.send(sourceId);
    first.clock.set(first.clock.now() - limits.sourceCacheMs + 1); // its cache does not expire
    await first.clock.advance(limits.scanMs);
    await until(async () => (await late.read(`/v1/events/${eventId}`)).status === 'delivered');
    expect(destination.hits).toHaveLength(1);
  });

  it('take over what one of them was stopped with', async () => {
    const first = await openWebhooks();
    const destination = await openDestination(() => {}); // hangs
    const sourceId = await first.source();
    await first.connect(sourceId, destination.url);
    const eventId = await first.send(sourceId);
    await until(() => destination.hits.length === 1);
    destination.answer = answer(200);
    await first.stop(); // lets it finish for a while, then cuts it off
    const second = await startWebhooks({ clock: first.clock }, first.engine.client, first.engine);
    await leap(first.clock, limits.leaseMs);
    await until(() => destination.hits.length === 2);
    await until(async () => (await second.read(`/v1/events/${eventId}`)).status === 'delivered');
    expect(destination.hits[1]!.headers['webhook-id']).toBe(eventId);
  });

  it('take over at once what a killed one had leased', async () => {
    const owners = manualOwners();
    let crashing: ReturnType<typeof crashingClient> | undefined;
    const first = await openWebhooks({
      owners: owners.as('first'),
      wrap: client => {
        crashing = crashingClient(client, 1, 'before');
        return crashing.client;
      },
    });
    const destination = await openDestination();
    const sourceId = await first.source();
    await first.connect(sourceId, destination.url);
    destination.answer = () => crashing!.arm(); // it dies with the request in flight
    const eventId = await first.send(sourceId);
    await until(() => destination.hits.length === 1);
    destination.answer = answer(200);
    const change = { clock: first.clock, owners: owners.as('second') };
    const second = await startWebhooks(change, first.engine.client, first.engine);
    await first.clock.advance(limits.scanMs);
    expect((await second.read(`/v1/events/${eventId}`)).status).not.toBe('delivered');
    owners.end('first');
    await until(async () => (await second.read(`/v1/events/${eventId}`)).status === 'delivered');
    expect(destination.hits).toHaveLength(2);
  });

  it('take over at once what waited in the memory of a killed one', async () => {
    const owners = manualOwners();
    const first = await openWebhooks({ owners: owners.as('first') });
    const destination = await openDestination(() => {}); // hangs
    const sourceId = await first.source();
    await first.connect(sourceId, destination.url);
    const sent: string[] = [];
    for (let i = 0; i < 6; i++) sent.push(await first.send(sourceId)); // a new connection gets one at a time
    await until(() => destination.hits.length === 1);
    destination.answer = answer(200);
    const change = { clock: first.clock, owners: owners.as('second') };
    const second = await startWebhooks(change, first.engine.client, first.engine);
    owners.end('first');
    for (const eventId of sent)
      await until(async () => (await second.read(`/v1/events/${eventId}`)).status === 'delivered');
    const ids = destination.hits.slice(1).map(hit => hit.headers['webhook-id']);
    expect(ids.sort()).toEqual(sent.sort());
  });

  it('count a result only if its lease was not lost', async () => {
    const first = await openWebhooks();
    const pending: (() => void)[] = [];
    const destination = await openDestination((_, response) => {
      pending.push(() => void response.writeHead(pending.length > 1 ? 200 : 500).end());
    });
    const sourceId = await first.source();
    await first.connect(sourceId, destination.url);
    const eventId = await first.send(sourceId);
    await until(() => pending.length === 1);
    const second = await startWebhooks({ clock: first.clock }, first.engine.client, first.engine);
    first.clock.set(first.clock.now() + limits.leaseMs + 1); // as if it had slept past its lease
    await first.clock.advance(limits.scanMs);
    await until(() => pending.length === 2);
    pending[1]!();
    await until(async () => (await second.read(`/v1/events/${eventId}`)).status === 'delivered');
    pending[0]!();
    await first.clock.advance(5000);
    const { status, attempts } = await second.read(`/v1/events/${eventId}`);
    expect([status, attempts.length]).toEqual(['delivered', 1]);
  });
});

describe('a process with an outdated cache', () => {
  const open = async () => {
    const first = await openWebhooks();
    const second = await startWebhooks({ clock: first.clock }, first.engine.client, first.engine);
    return { first, second, destination: await openDestination() };
  };
  const textOf = (hit: { body: Buffer }) => hit.body.toString();

  it('delivers events it accepts after a connection was created, once', async () => {
    const { first, second, destination } = await open();
    const sourceId = await first.source();
    await second.send(sourceId, 'before');
    await first.clock.advance(2 * limits.clockSkewMs);
    await second.send(sourceId, 'just before');
    await first.clock.advance(limits.sourceCacheMs / 2);
    const connectionId = await first.connect(sourceId, destination.url);
    const eventId = await second.send(sourceId, 'after');
    await first.send(sourceId, 'here');
    const detail = () => first.read(`/v1/events/${eventId}`);
    await untilLater(first.clock, async () => (await detail()).status === 'delivered');
    await leap(first.clock, limits.catchUpMs.at(-1)!);
    await first.clock.advance(2000);
    const sent = destination.hits.map(textOf);
    expect(sent.filter(text => text !== 'just before').sort()).toEqual(['after', 'here']);
    expect((await first.read('/v1/webhook-jobs')).data).toEqual([]);
    expect((await detail()).deliveries).toMatchObject([{ connectionId, run: 0, attempts: 1 }]);
  });

  it('delivers what it filtered by outdated rules', async () => {
    const { first, second, destination } = await open();
    const sourceId = await first.source();
    const filters = [{ field: 'body', path: '$.n', operator: 'equals', value: 1 }];
    const connectionId = await first.connect(sourceId, destination.url, { filters });
    await leap(first.clock, limits.catchUpMs.at(-1)! + 2000);
    await second.send(sourceId, '{"n":1}');
    await until(() => destination.hits.length === 1);
    await first.stop();
    await first.read(`/v1/connections/${connectionId}`, { method: 'PATCH', send: { filters: [] } });
    const eventId = await second.send(sourceId, '{"n":2}');
    const statusOf = async () => (await first.read(`/v1/events/${eventId}`)).status;
    await until(async () => (await statusOf()) === 'filtered');
    await untilLater(second.clock, async () => (await statusOf()) === 'delivered');
    await leap(second.clock, limits.catchUpMs.at(-1)!);
    await second.clock.advance(2000);
    expect(destination.hits.map(textOf)).toEqual(['{"n":1}', '{"n":2}']);
  });
});
