import type { DynamoClient } from '@stak/table';
import { describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { connection } from '../src/main-table.ts';
import { backlog } from '../src/tables.ts';
import { openDestination } from './destination.ts';
import { generous, leap, openWebhooks, startWebhooks, until, untilLater } from './webhooks-fixture.ts';

type Put = Parameters<DynamoClient['put']>[0];

// The first item of this kind that a process writes is held until it is let through.
function holdFirst(client: DynamoClient, start: string) {
  let open = () => {};
  const opened = new Promise<void>(resolve => (open = resolve));
  const held = { isHeld: false, open };
  const slow = {
    ...client,
    mayLoseAnswers: true,
    async put(input: Put) {
      if (!held.isHeld && String(input.Item.SK).startsWith(start)) {
        held.isHeld = true;
        await opened;
      }
      return client.put(input);
    },
  };
  return { held, slow: slow as DynamoClient };
}

// One process takes an event, and its write of an item takes long. The other one delivers.
async function openSlow(start: string) {
  const quick = await openWebhooks();
  const { held, slow } = holdFirst(quick.engine.client, start);
  const taker = await startWebhooks({ clock: quick.clock }, slow, quick.engine);
  await taker.stop();
  const destination = await openDestination();
  const sourceId = await quick.source();
  const connectionId = await quick.connect(sourceId, destination.url);
  await leap(quick.clock, limits.settledMs);
  const begin = async () => {
    const sending = taker.send(sourceId);
    await until(() => held.isHeld);
    return async () => {
      held.open();
      return sending;
    };
  };
  const patch = (path: string, status: string) => quick.read(path, { method: 'PATCH', send: { status } });
  // Longer than an empty backlog used to be looked at, in the steps in which that happens.
  const waitLong = async () => {
    for (let n = 0; n < 6; n++) await leap(quick.clock, limits.backlogIdleMs);
  };
  const isDelivered = async (eventId: string) =>
    (await quick.read(`/v1/events/${eventId}`)).status === 'delivered';
  return { quick, destination, sourceId, connectionId, begin, patch, waitLong, isDelivered };
}

describe('a delivery that is written long after its event was received', () => {
  it.each(['sources', 'connections'] as const)('is made if its %s were resumed meanwhile', async what => {
    const { quick, ...slow } = await openSlow('DLV#');
    const path = `/v1/${what}/${what === 'sources' ? slow.sourceId : slow.connectionId}`;
    await slow.patch(path, 'paused');
    const finish = await slow.begin();
    await slow.patch(path, 'active');
    await slow.waitLong();
    const eventId = await finish();
    await untilLater(quick.clock, () => slow.isDelivered(eventId), limits.backlogIdleMs);
    await leap(quick.clock, limits.settledMs);
    await leap(quick.clock, limits.settledMs);
    const { connectionId } = slow;
    expect(await quick.store.get(backlog, { connectionId })).toBeUndefined();
    expect(slow.destination.hits).toHaveLength(1);
  });

  it('is made if the breaker was closed meanwhile', async () => {
    const { quick, sourceId, connectionId, ...slow } = await openSlow('DLV#');
    const setBreaker = (breaker: 'open' | 'closed') =>
      quick.store.update(connection, { sourceId, connectionId }, { set: { breaker } });
    await setBreaker('open');
    const finish = await slow.begin();
    await setBreaker('closed');
    await slow.waitLong();
    const eventId = await finish();
    await untilLater(quick.clock, () => slow.isDelivered(eventId), limits.backlogIdleMs);
  });
});

describe('an event that is written long after it was received', () => {
  it('gets the delivery to a connection that was created meanwhile', async () => {
    const { quick, ...slow } = await openSlow('EVT#');
    const finish = await slow.begin();
    const added = await quick.connect(slow.sourceId, slow.destination.url);
    await slow.waitLong();
    const eventId = await finish();
    const to = async () =>
      (await quick.read(`/v1/events/${eventId}`)).deliveries.map(
        (one: { connectionId: string }) => one.connectionId,
      );
    await untilLater(quick.clock, async () => (await to()).includes(added), limits.backlogIdleMs);
    await untilLater(quick.clock, () => slow.isDelivered(eventId));
    expect(slow.destination.hits).toHaveLength(2);
  });
});

it('an event that was rightly filtered stays so when the rules are changed later', async () => {
  const hooks = await openWebhooks();
  const destination = await openDestination();
  const never = [{ field: 'body', path: '$.never', operator: 'exists' }];
  const sourceId = await hooks.source();
  const connectionId = await hooks.connect(sourceId, destination.url, { filters: never });
  await leap(hooks.clock, 20_000); // the jobs of the first seconds are done
  const eventId = await hooks.send(sourceId);
  const isFiltered = async () => (await hooks.read(`/v1/events/${eventId}`)).status === 'filtered';
  await untilLater(hooks.clock, isFiltered);
  await leap(hooks.clock, 60_000);
  await hooks.read(`/v1/connections/${connectionId}`, { method: 'PATCH', send: { filters: [] } });
  for (let n = 0; n < 8; n++) await leap(hooks.clock, limits.settledMs / 4);
  expect(await isFiltered()).toBe(true);
  expect(destination.hits).toHaveLength(0);
});

describe('what is known of a source', () => {
  // Everything before the writes takes so long that no job of the change is left.
  it.each(['a request', 'an event of Stak'])('is read again if %s had to wait', async kind => {
    const isStak = kind === 'an event of Stak';
    let isHeld = false;
    let open = () => {};
    const opened = new Promise<void>(resolve => (open = resolve));
    const planOf = async () => {
      isHeld = true;
      await opened;
      return generous;
    };
    const quick = await openWebhooks();
    const { engine, clock } = quick;
    const waiting = await startWebhooks({ clock, planOf }, engine.client, engine);
    const destination = await openDestination();
    const sourceId = await quick.source(isStak ? { provider: 'stak' } : {});
    const first = await quick.connect(sourceId, destination.url);
    await quick.read(`/v1/connections/${first}`, { method: 'PATCH', send: { status: 'paused' } });
    const made = isStak
      ? waiting.webhooks.operations.emit('usr_ann', { type: 'task.done', id: '1', at: 0, data: {} })
      : waiting.send(sourceId);
    await until(() => isHeld);
    await quick.read(`/v1/connections/${first}`, { method: 'PATCH', send: { status: 'active' } });
    await quick.connect(sourceId, destination.url);
    await leap(clock, limits.settledMs);
    await leap(clock, limits.settledMs);
    open();
    await made;
    await untilLater(clock, () => destination.hits.length === 2);
  });

  it('makes the sender try again if it cannot be read in time', async () => {
    let isSlow = false;
    const hooks = await openWebhooks({
      planOf: async () => {
        hooks.clock.set(hooks.clock.now() + limits.viewMs + 1);
        return generous;
      },
      wrap: client => ({
        ...client,
        get(input) {
          if (isSlow && input.TableName === 'ferryhook-main')
            hooks.clock.set(hooks.clock.now() + limits.viewMs + 1);
          return client.get(input);
        },
      }),
    });
    const sourceId = await hooks.source();
    isSlow = true;
    const refused = await hooks.ingest(sourceId);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    isSlow = false;
    await hooks.send(sourceId);
  });
});
