import { describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { answer, openDestination } from './destination.ts';
import { leap, openWebhooks, until, untilLater } from './webhooks-fixture.ts';

// The data access objects, and a delivery through them, on both clients.
describe.each(['embedded', 'sdk'] as const)('data access over the %s client', over => {
  it('has every documented function', async () => {
    const hooks = await openWebhooks({ over });
    const { sources, connections, events, attempts } = hooks.webhooks;
    const userId = 'usr_ann';
    const { sourceId } = await sources.create({ userId, name: 'A' });
    expect(await sources.getById(sourceId)).toMatchObject({ sourceId, userId, status: 'active' });
    expect(await sources.getById('src_0')).toBeNull();
    expect(await sources.listByUser(userId)).toHaveLength(1);
    expect(await sources.update(sourceId, userId, { name: 'B' })).toMatchObject({ name: 'B', version: 2 });
    await expect(sources.update(sourceId, 'usr_bob', { name: 'C' })).rejects.toMatchObject({
      code: 'webhooks.source_not_found',
    });

    const destinationUrl = 'https://hooks.example/a';
    const { connection } = await connections.create({ sourceId, userId, name: 'C', destinationUrl });
    const { connectionId } = connection;
    expect(await connections.listBySource(sourceId)).toHaveLength(1);
    expect(await connections.getById(connectionId)).toMatchObject({ sourceId, userId });
    expect(await connections.update(connectionId, { status: 'paused' })).toMatchObject({ status: 'paused' });

    const body = new Uint8Array(200_000).fill(7);
    const { eventId } = await events.create({ sourceId, body, retentionSeconds: 60 });
    expect(await events.getById(eventId)).toMatchObject({
      eventId,
      sourceId,
      size: 200_000,
      status: 'received',
    });
    expect((await events.request(eventId))!.body.length).toBe(200_000);
    const page = await events.listBySource(sourceId, { limit: 10 });
    expect(page.events.map(event => event.eventId)).toEqual([eventId]);
    await events.updateStatus(eventId, 'failed');
    expect(await events.getById(eventId)).toMatchObject({ status: 'failed' });

    const input = {
      connectionId,
      destinationUrl,
      statusCode: 200,
      latencyMs: 1,
      attemptedAt: hooks.clock.now(),
    };
    await attempts.create(eventId, 10, input);
    await attempts.create(eventId, 2, input);
    await expect(attempts.create(eventId, 2, input)).rejects.toMatchObject({
      code: 'table.condition_failed',
    });
    expect((await attempts.listByEvent(eventId)).map(one => one.attemptNumber)).toEqual([2, 10]);

    await connections.delete(connectionId);
    expect(await connections.getById(connectionId)).toBeNull();
    expect(await connections.listBySource(sourceId)).toEqual([]);
    await sources.delete(sourceId, userId);
    expect(await sources.getById(sourceId)).toBeNull();
    // It was held for a paused connection, for longer than its plan keeps events.
    hooks.clock.set(hooks.clock.now() + (limits.heldS + 1) * 1000);
    expect(await events.getById(eventId)).toBeNull();
    expect(await attempts.listByEvent(eventId)).toEqual([]);
  });

  it('accepts, delivers, retries, holds, releases, replays and deduplicates', async () => {
    const hooks = await openWebhooks({ over });
    const [plain, ordered] = [await openDestination(answer(503)), await openDestination()];
    const sourceId = await hooks.source({ dedupeHeader: 'X-Id' });
    const first = await hooks.connect(sourceId, plain.url, { ratePerSecond: 100 });
    await hooks.connect(sourceId, ordered.url, { ordered: true });
    const body = new Uint8Array(limits.bodyPartBytes + 1).fill(200);
    const eventId = await hooks.send(sourceId, body, { 'X-Id': 'a' });
    expect(await hooks.send(sourceId, body, { 'X-Id': 'a' })).toBe(eventId);
    const status = async () => (await hooks.read(`/v1/events/${eventId}`)).status;
    await untilLater(hooks.clock, async () => (await status()) === 'retrying', 100);
    await untilLater(hooks.clock, () => ordered.hits.length === 1, 100);
    expect(ordered.hits[0]!.body.equals(body)).toBe(true);
    plain.answer = answer(200);
    await leap(hooks.clock, limits.retryDelaysMs[1]!);
    await untilLater(hooks.clock, async () => (await status()) === 'delivered', 100);

    const path = `/v1/connections/${first}`;
    await hooks.read(path, { method: 'PATCH', send: { status: 'paused' } });
    await hooks.post(`/v1/events/${eventId}/replay`, { connectionIds: [first] });
    await untilLater(
      hooks.clock,
      async () => {
        const { deliveries } = await hooks.read(`/v1/events/${eventId}`);
        return deliveries.some((one: { isHeld: boolean }) => one.isHeld);
      },
      100,
    );
    await hooks.read(path, { method: 'PATCH', send: { status: 'active' } });
    await untilLater(hooks.clock, () => plain.hits.length === 3, 100);
    await until(async () => (await status()) === 'delivered');
    const { attempts } = await hooks.read(`/v1/events/${eventId}`);
    expect(attempts).toHaveLength(4);
    const listed = await hooks.read(`/v1/sources/${sourceId}/events?status=delivered`);
    expect(listed.data).toHaveLength(1);
  });
});
