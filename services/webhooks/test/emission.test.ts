import { createLogger } from '@stak/kit';
import type { DynamoClient } from '@stak/table';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import type { StakEvent } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { answer, openDestination } from './destination.ts';
import {
  type Fixture,
  generous,
  leap,
  openWebhooks,
  startWebhooks,
  until,
  untilLater,
} from './webhooks-fixture.ts';

const reminded: StakEvent = {
  type: 'task.reminder',
  id: 'tsk_1:1767225600000',
  at: Date.UTC(2026, 0, 1),
  data: { user_id: 'usr_ann', task: { task_id: 'tsk_1', title: 'Tea' } },
};
const emit = (hooks: Fixture, change: Partial<StakEvent> = {}, account = 'usr_ann') =>
  hooks.webhooks.operations.emit(account, { ...reminded, ...change });
const listed = async (hooks: Fixture, sourceId: string, as?: string) =>
  (await hooks.read(`/v1/sources/${sourceId}/events`, { as })).data;
const stak = { name: 'Stak', provider: 'stak' };

describe.each(['embedded', 'sdk'] as const)('Stak’s own events, over the %s client', over => {
  it('are signed in the shape of Standard Webhooks, and stored once', async () => {
    const hooks = await openWebhooks({ over, counts: true });
    const destination = await openDestination();
    const sourceId = await hooks.source(stak);
    const made = { name: 'A connection', destinationUrl: destination.url };
    const { signingSecret } = await hooks.post(`/v1/sources/${sourceId}/connections`, made);
    await Promise.all([emit(hooks), emit(hooks), emit(hooks)]);
    await emit(hooks);
    await emit(hooks, { id: 'tsk_2:1767225600000' });
    await until(() => destination.hits.length === 2);
    const events = await listed(hooks, sourceId);
    expect(events).toHaveLength(2);
    expect(events[1]).toMatchObject({
      method: 'POST',
      contentType: 'application/json',
      dedupeId: 'task.reminder:tsk_1:1767225600000',
    });
    await untilLater(hooks.clock, async () => (await hooks.usage('usr_ann')) === 2, limits.flushMs);

    const hit = destination.hits.find(one => one.headers['webhook-id'] === events[1].eventId)!;
    expect(JSON.parse(hit.body.toString())).toEqual({
      type: 'task.reminder',
      timestamp: '2026-01-01T00:00:00.000Z',
      data: reminded.data,
    });
    expect(hit.headers['content-type']).toBe('application/json');
    const signed = new Webhook(signingSecret).sign(
      events[1].eventId,
      new Date(Number(hit.headers['webhook-timestamp']) * 1000),
      hit.body.toString(),
    );
    expect(hit.headers['webhook-signature']).toBe(signed);
  });
});

describe('an event of Stak', () => {
  it('is sent to every subscribed source of the account, and to no other', async () => {
    const hooks = await openWebhooks();
    const [first, second, other] = [await hooks.source(stak), await hooks.source(stak), await hooks.source()];
    const bobs = (await hooks.post('/v1/sources', stak, 'bob')).sourceId;
    await emit(hooks);
    expect(await listed(hooks, first)).toHaveLength(1);
    expect(await listed(hooks, second)).toHaveLength(1);
    expect(await listed(hooks, other)).toEqual([]);
    expect(await listed(hooks, bobs, 'bob')).toEqual([]);
    await emit(hooks, {}, 'usr_nobody');
  });

  it('is filtered and retried as usual', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(500));
    const sourceId = await hooks.source(stak);
    const ofType = (value: string) => [{ field: 'body', path: '$.type', operator: 'equals', value }];
    await hooks.connect(sourceId, destination.url, { filters: ofType('task.reminder') });
    await hooks.connect(sourceId, destination.url, { filters: ofType('task.other') });
    await emit(hooks);
    await until(async () => (await listed(hooks, sourceId))[0].status === 'retrying');
    destination.answer = answer(200);
    await leap(hooks.clock, limits.retryDelaysMs[1]!);
    await until(async () => (await listed(hooks, sourceId))[0].status === 'delivered');
    expect(destination.hits).toHaveLength(2);
  });

  it('waits while its source is paused, unless the source refuses then', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const holding = await hooks.source(stak);
    const refusing = await hooks.source({ ...stak, whilePaused: 'refuse' });
    await hooks.connect(holding, destination.url);
    const set = (id: string, status: string) =>
      hooks.read(`/v1/sources/${id}`, { method: 'PATCH', send: { status } });
    await set(holding, 'paused');
    await set(refusing, 'paused');
    await emit(hooks);
    expect(await listed(hooks, holding)).toHaveLength(1);
    expect(await listed(hooks, refusing)).toEqual([]);
    expect(destination.hits).toEqual([]);
    await set(holding, 'active');
    await untilLater(hooks.clock, () => destination.hits.length === 1);
  });

  it('is skipped, with one line in the log, when the month’s quota is used up', async () => {
    const lines: string[] = [];
    const log = createLogger({ destination: { write: line => void lines.push(line) } });
    const hooks = await openWebhooks({ plan: { ...generous, eventsPerMonth: 1 }, log });
    const sourceIds = [await hooks.source(stak), await hooks.source(stak), await hooks.source(stak)];
    await emit(hooks);
    const events = await Promise.all(sourceIds.map(sourceId => listed(hooks, sourceId)));
    expect(events.flat()).toHaveLength(1);
    const logged = lines
      .map(line => JSON.parse(line))
      .filter(line => line.msg === 'could not store an event');
    expect(logged).toMatchObject([
      { account_id: 'usr_ann', type: 'task.reminder', refusals: ['webhooks.quota_exceeded'] },
    ]);
  });

  it('fails if there are too many at once; emitted again later, it is added where it was missing', async () => {
    const hooks = await openWebhooks({ plan: { ...generous, eventsPerMinute: 2 } });
    const sourceId = await hooks.source(stak);
    await emit(hooks, { id: '1' });
    await emit(hooks, { id: '2' });
    await expect(emit(hooks, { id: '3' })).rejects.toMatchObject({ code: 'webhooks.rate_limited' });
    await hooks.clock.advance(60_000);
    await emit(hooks, { id: '3' });
    expect(await listed(hooks, sourceId)).toHaveLength(3);
  });

  it('is written when it is emitted again, if the first write failed', async () => {
    let isDown = false;
    const wrap = (client: DynamoClient): DynamoClient => ({
      ...client,
      transactWrite: async input => {
        if (isDown) throw new Error('the table is gone');
        return client.transactWrite(input);
      },
    });
    const hooks = await openWebhooks({ wrap });
    const sourceId = await hooks.source(stak);
    isDown = true;
    await expect(emit(hooks)).rejects.toThrow('the table is gone');
    isDown = false;
    await emit(hooks);
    expect(await listed(hooks, sourceId)).toHaveLength(1);
  });

  it('reads the sources of an account once a second, including those of another process', async () => {
    let asked = 0;
    const wrap = (client: DynamoClient): DynamoClient => ({
      ...client,
      query: input => {
        if (JSON.stringify(input.ExpressionAttributeValues).includes('USER#usr_ann')) asked += 1;
        return client.query(input);
      },
    });
    const hooks = await openWebhooks({ wrap });
    for (const id of ['1', '2', '3']) await emit(hooks, { id });
    expect(asked).toBe(1);
    const { engine, clock } = hooks;
    const other = await startWebhooks({ clock }, engine.client as DynamoClient, engine);
    const sourceId = await other.source(stak);
    await hooks.clock.advance(limits.sourceCacheMs);
    await emit(hooks);
    expect(asked).toBe(2);
    expect(await listed(hooks, sourceId)).toHaveLength(1);
    await other.read(`/v1/sources/${sourceId}`, { method: 'DELETE' });
    await hooks.clock.advance(limits.sourceCacheMs);
    await emit(hooks, { id: 'after it' });
    expect((await other.webhooks.events.listBySource(sourceId, { limit: 10 })).events).toHaveLength(1);
  });
});

describe('a source of Stak', () => {
  it('gives the same response as a source that never existed', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source(stak);
    const answered = async (id: string, init: RequestInit) => {
      const response = await hooks.ingest(id, init);
      const {
        request_id: _,
        instance: _path,
        ...problem
      } = (await response.json()) as Record<string, unknown>;
      return [response.status, problem];
    };
    const inits: RequestInit[] = [{}, { headers: { 'webhook-id': '1' } }, { method: 'GET', body: null }];
    for (const init of inits) {
      const unknown = await answered('src_unknown', init);
      expect(unknown).toMatchObject([404, { code: 'webhooks.source_not_found' }]);
      expect(await answered(sourceId, init)).toEqual(unknown);
    }
    expect(await listed(hooks, sourceId)).toEqual([]);
  });

  it('has no address, and none of the settings for outside senders', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source({ ...stak, whilePaused: 'hold' });
    const shown = await hooks.read(`/v1/sources/${sourceId}`);
    expect(shown).toMatchObject({ provider: 'stak', hasSigningSecret: false, signatures: 'off' });
    expect(shown).not.toHaveProperty('ingestUrl');
    const signingAlgorithm = { algorithm: 'sha256', header: 'x-signature', encoding: 'hex' };
    const senderFields = {
      signingSecret: 'secret',
      signingAlgorithm,
      signatures: 'reject',
      toleranceS: 60,
      verifyToken: 'token',
      dedupeHeader: 'x-id',
    };
    for (const [name, value] of Object.entries(senderFields)) {
      const calls = [
        hooks.call('/v1/sources', { method: 'POST', send: { ...stak, [name]: value } }),
        hooks.call(`/v1/sources/${sourceId}`, { method: 'PATCH', send: { [name]: value } }),
      ];
      for (const response of await Promise.all(calls)) {
        expect([name, response.status]).toEqual([name, 422]);
        expect(await response.json()).toMatchObject({ code: 'webhooks.field_refused' });
      }
    }
    const edited = { name: 'Renamed', alertUrl: 'https://hooks.example/alerts', signingSecret: null };
    const path = `/v1/sources/${sourceId}`;
    expect(await hooks.read(path, { method: 'PATCH', send: edited })).toMatchObject({ name: 'Renamed' });
  });
});
