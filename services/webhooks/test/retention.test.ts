import { describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { answer, openDestination } from './destination.ts';
import { type Fixture, generous, leap, openWebhooks, until, untilLater } from './webhooks-fixture.ts';

const hour = 3_600_000;
const day = 24 * hour;
const plan = { ...generous, retentionSeconds: day / 1000 };

const detailOf = (hooks: Fixture, eventId: string) => hooks.read(`/v1/events/${eventId}`);
const reach = (hooks: Fixture, eventId: string, status: string) =>
  untilLater(hooks.clock, async () => (await detailOf(hooks, eventId)).status === status);
const attemptsOf = async (hooks: Fixture, eventId: string): Promise<number> =>
  (await detailOf(hooks, eventId)).attempts.length;

// Moves the clock to the next attempt of a failing delivery, again and again, until there is none.
async function failThrough(
  hooks: Fixture,
  eventId: string,
  connectionId: string,
  isSettled: () => unknown = () => true,
): Promise<void> {
  const deliveryOf = async () => {
    const { deliveries } = await detailOf(hooks, eventId);
    return deliveries.filter((one: { connectionId: string }) => one.connectionId === connectionId).at(-1);
  };
  for (let attempts = 1; attempts < limits.attempts; attempts++) {
    await until(async () => {
      const { attempts: made, nextAttemptAt } = await deliveryOf();
      return made === attempts && nextAttemptAt !== undefined;
    }, `attempt ${attempts}`);
    // In steps, because a delivery behind it checks now and then whether it is first.
    for (let left = 1; left > 0; ) {
      left = (await deliveryOf()).nextAttemptAt - hooks.clock.now();
      if (left > 0) {
        await leap(hooks.clock, Math.min(left, 3 * hour));
        await untilLater(hooks.clock, isSettled);
      }
    }
  }
  await until(async () => (await deliveryOf()).state === 'failed', 'the last attempt');
}

describe('an event with a retention of a day', () => {
  it('is kept for its last attempt, with all its data', async () => {
    const hooks = await openWebhooks({ plan });
    const [good, bad] = [await openDestination(), await openDestination(answer(500))];
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, good.url);
    const failing = await hooks.connect(sourceId, bad.url);
    const receivedAt = hooks.clock.now();
    const eventId = await hooks.send(sourceId, new Uint8Array(limits.bodyBytes));
    await until(async () => (await attemptsOf(hooks, eventId)) === 2);
    expect((await detailOf(hooks, eventId)).expiresAt).toBe((receivedAt + day) / 1000);
    await failThrough(hooks, eventId, failing);
    await reach(hooks, eventId, 'partial');
    expect(hooks.clock.now() - receivedAt).toBeGreaterThan(41 * hour);
    const { deliveries, attempts, expiresAt } = await detailOf(hooks, eventId);
    expect(deliveries).toHaveLength(2);
    expect(attempts).toHaveLength(1 + limits.attempts);
    expect(bad.hits.at(-1)!.body).toHaveLength(limits.bodyBytes);
    await leap(hooks.clock, expiresAt * 1000 - hooks.clock.now());
    expect((await hooks.call(`/v1/events/${eventId}`)).status).toBe(404);
    const left = await hooks.engine.client.scan({ TableName: 'ferryhook-events' });
    const nowS = hooks.clock.now() / 1000;
    const ofEvent = left.Items!.filter(item => item.eventId === eventId);
    expect(ofEvent.filter(item => (item.expiresAt as number) > nowS)).toEqual([]);
  });

  it.each(['before it arrives', 'after its first attempt'])(
    'waits for its connection, which was paused %s',
    async when => {
      const hooks = await openWebhooks({ plan });
      const destination = await openDestination(answer(500));
      const sourceId = await hooks.source();
      const connectionId = await hooks.connect(sourceId, destination.url, { ordered: true });
      const patch = (send: object) =>
        hooks.read(`/v1/connections/${connectionId}`, { method: 'PATCH', send });
      if (when === 'before it arrives') await patch({ status: 'paused' });
      const eventId = await hooks.send(sourceId);
      if (when === 'after its first attempt') {
        await until(async () => (await attemptsOf(hooks, eventId)) === 1);
        await patch({ status: 'paused' });
      }
      await leap(hooks.clock, limits.retryDelaysMs[1]!);
      await untilLater(hooks.clock, async () => (await detailOf(hooks, eventId)).deliveries[0].isHeld);
      await leap(hooks.clock, 6 * day);
      destination.answer = answer(200);
      await patch({ status: 'active' });
      await reach(hooks, eventId, 'delivered');
    },
  );

  it('waits for a paused source', async () => {
    const hooks = await openWebhooks({ plan });
    const destination = await openDestination();
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const patch = (send: object) => hooks.read(`/v1/sources/${sourceId}`, { method: 'PATCH', send });
    await patch({ status: 'paused' });
    const eventId = await hooks.send(sourceId);
    await leap(hooks.clock, 6 * day);
    await patch({ status: 'active' });
    await reach(hooks, eventId, 'delivered');
  });

  it('waits for a destination that is down for days', async () => {
    const hooks = await openWebhooks({ plan });
    const destination = await openDestination(answer(500));
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    const events: string[] = [];
    for (let n = 0; n <= limits.breakerFailures; n++) {
      events.push(await hooks.send(sourceId));
      await until(() => destination.hits.length === Math.min(n + 1, limits.breakerFailures));
      const path = `/v1/connections/${connectionId}`;
      if (n + 1 === limits.breakerFailures)
        await until(async () => (await hooks.read(path)).breaker === 'open');
    }
    await leap(hooks.clock, limits.retryDelaysMs[1]!);
    const isHeld = async (eventId: string) => (await detailOf(hooks, eventId)).deliveries[0].isHeld;
    for (const eventId of events) await until(() => isHeld(eventId));
    for (let days = 0; days < 5; days++) await leap(hooks.clock, day);
    destination.answer = answer(200);
    await leap(hooks.clock, limits.breakerMostMs);
    for (const eventId of events) await reach(hooks, eventId, 'delivered');
  });

  it('waits behind one that uses all its attempts', async () => {
    const hooks = await openWebhooks({ plan });
    const destination = await openDestination((hit, response) => {
      response.writeHead(hit.body.toString() === 'second' ? 200 : 500).end();
    });
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url, { ordered: true });
    const first = await hooks.send(sourceId, 'first');
    const second = await hooks.send(sourceId, 'second');
    await failThrough(hooks, first, connectionId, async () => {
      const { deliveries } = await detailOf(hooks, second);
      return deliveries[0].nextAttemptAt > hooks.clock.now(); // it has seen that it is not first
    });
    await reach(hooks, second, 'delivered');
    expect(destination.hits.map(hit => hit.body.toString())).toEqual([
      ...Array(limits.attempts).fill('first'),
      'second',
    ]);
  });

  it('is kept for a replay that starts when it would expire', async () => {
    const hooks = await openWebhooks({ plan });
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    const eventId = await hooks.send(sourceId);
    await until(async () => (await detailOf(hooks, eventId)).status === 'delivered');
    await leap(hooks.clock, day - 60_000);
    destination.answer = answer(500);
    await hooks.post(`/v1/events/${eventId}/replay`, {});
    await failThrough(hooks, eventId, connectionId);
    await reach(hooks, eventId, 'failed');
    expect(await attemptsOf(hooks, eventId)).toBe(1 + limits.attempts);
  });
});
