import type { DynamoClient } from '@stak/table';
import { expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { openDestination } from './destination.ts';
import { openWebhooks, untilLater } from './webhooks-fixture.ts';

// Changes between a process's reads and its write.

type Act = () => Promise<unknown>;
type Write = 'put' | 'update' | 'transactWrite';

// A store that does something else before the next write that names `part`.
function interrupted() {
  let next: { part: string; act: Act } | undefined;
  const before = async (input: object) => {
    if (!next || !JSON.stringify(input).includes(next.part)) return;
    const { act } = next;
    next = undefined;
    await act();
  };
  const wrapped = <N extends Write>(client: DynamoClient, name: N) =>
    (async (input: object) => {
      await before(input);
      return client[name](input as never);
    }) as DynamoClient[N];
  return {
    beforeNext: (part: string, act: Act) => {
      next = { part, act };
    },
    wrap: (client: DynamoClient): DynamoClient => ({
      ...client,
      put: wrapped(client, 'put'),
      update: wrapped(client, 'update'),
      transactWrite: wrapped(client, 'transactWrite'),
    }),
  };
}

it('a connection that is created while its source is resumed gets what was held for it', async () => {
  const { beforeNext, wrap } = interrupted();
  const hooks = await openWebhooks({ wrap });
  const destination = await openDestination();
  const sourceId = await hooks.source();
  const path = `/v1/sources/${sourceId}`;
  await hooks.read(path, { method: 'PATCH', send: { status: 'paused' } });
  beforeNext(sourceId, async () => {
    await hooks.connect(sourceId, destination.url);
    await hooks.send(sourceId);
  });
  await hooks.read(path, { method: 'PATCH', send: { status: 'active' } });
  await untilLater(hooks.clock, () => destination.hits.length === 1, 100);
  expect(hooks.clock.now()).toBeLessThan(Date.parse('2026-01-01T00:01:00Z'));
});

it('a connection of a paused source is looked at again, whoever resumes the source', async () => {
  const hooks = await openWebhooks();
  const sourceId = await hooks.source();
  await hooks.read(`/v1/sources/${sourceId}`, { method: 'PATCH', send: { status: 'paused' } });
  const connectionId = await hooks.connect(sourceId, 'https://hooks.example/a');
  const Key = { PK: `LANE#${connectionId}`, SK: 'STATE' };
  const { Item } = await hooks.engine.client.get({ TableName: 'ferryhook-events', Key });
  expect(Item).toMatchObject({ dueAt: hooks.clock.now() + limits.settledMs });
});

it('an event that is stored after its account was erased erases itself', async () => {
  const { beforeNext, wrap } = interrupted();
  const hooks = await openWebhooks({ wrap });
  const sourceId = await hooks.source({ dedupeHeader: 'X-Id' });
  await hooks.connect(sourceId, 'https://hooks.example/a');
  beforeNext('EVTID#', async () => {
    for (let rounds = 0; (await hooks.webhooks.eraser.eraseAccount('usr_ann')) === 'more'; rounds++) {
      expect(rounds).toBeLessThan(20);
      await hooks.clock.advance(limits.eraseGraceMs);
    }
  });
  const response = await hooks.ingest(sourceId, { headers: { 'X-Id': 'a' } });
  expect(response.status).toBe(404);
  const { Items = [] } = await hooks.engine.client.scan({ TableName: 'ferryhook-events' });
  expect(Items.filter(item => JSON.stringify(item).includes(sourceId))).toEqual([]);
});
