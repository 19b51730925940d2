import { createIds, createLogger, manualClock, seededRandom } from '@stak/kit';
import { createStore, type DynamoClient } from '@stak/table';
import { expect, it } from 'vitest';
import { createBreaker } from '../src/delivery/breaker.ts';
import { claimDelivery, holdDelivery, postponeDelivery, renewLease } from '../src/delivery/queue.ts';
import { createRateLimiter } from '../src/delivery/rate-limiter.ts';
import * as limits from '../src/limits.ts';
import { connection } from '../src/main-table.ts';
import { type Delivery, delivery } from '../src/tables.ts';
import { answer, openDestination } from './destination.ts';
import { openTables, openWebhooks, startWebhooks, until, untilLater } from './webhooks-fixture.ts';

// Leases of deliveries that have ended, and what their holders may still write: nothing.

it('of a delivery is for one worker, and ends with its time', async () => {
  const hooks = await openWebhooks();
  const { store, clock } = hooks;
  await hooks.stop();
  const sourceId = await hooks.source();
  const connectionId = await hooks.connect(sourceId, (await openDestination()).url);
  const eventId = await hooks.send(sourceId);
  const ref = { eventId, connectionId, run: 0 };
  const queue = { store, dueShards: { of: () => 'due', all: () => ['due'] } } as never;
  const claim = (owner: string) => claimDelivery(queue, ref, owner, clock.now());
  clock.set(clock.now() + limits.leaseMs);
  const claims = await Promise.all(['a', 'b', 'c'].map(claim));
  const [mine, ...others] = claims.filter(claim => claim !== undefined);
  expect(others).toEqual([]);
  expect(await claim('d')).toBeUndefined();
  clock.set(clock.now() + limits.leaseMs);
  const taken = (await claim('e'))!;
  expect(taken).toMatchObject({ owner: 'e' });
  const late = mine as Delivery;
  expect(await renewLease(store, late, clock.now())).toBeUndefined();
  expect(await postponeDelivery(queue, late, clock.now())).toBeUndefined();
  expect(await holdDelivery(store, late, clock.now(), { version: late.version })).toBeUndefined();
  expect(await store.get(delivery, ref, { consistent: true })).toEqual(taken);
  expect(await renewLease(store, taken, clock.now())).toMatchObject({ owner: 'e' });
});

it('that has ended keeps a late result from the table', async () => {
  const clock = manualClock();
  const { engine, client } = await openTables('embedded', clock);
  let resume = () => {};
  let isSuspended = false;
  let isMeant = false;
  const resumed = new Promise<void>(resolve => {
    resume = resolve;
  });
  // The first process is suspended when it is about to write a result.
  const wrapped = Object.fromEntries(
    Object.entries(client).map(([name, operation]) => [
      name,
      async (input: never) => {
        if (isMeant && name === 'transactWrite' && JSON.stringify(input).includes('"retrying"'))
          isSuspended = true;
        if (isSuspended) await resumed;
        return (operation as (input: never) => Promise<unknown>)(input);
      },
    ]),
  ) as unknown as DynamoClient;
  const slow = await startWebhooks({ clock }, wrapped, engine);
  const destination = await openDestination(answer(500));
  const sourceId = await slow.source();
  await slow.connect(sourceId, destination.url, { retryConfig: { delaysS: [5, 5, 5] } });
  isMeant = true;
  const eventId = await slow.send(sourceId);
  await until(() => isSuspended);
  let respond = () => {};
  const responding = new Promise<void>(resolve => {
    respond = resolve;
  });
  destination.answer = (_, response) => void responding.then(() => response.writeHead(200).end());
  const other = await startWebhooks({ clock }, client, engine);
  await untilLater(clock, () => destination.hits.length === 2);
  resume();
  // Its result has been refused when it has looked why.
  await clock.advance(100);
  for (let n = 0; n < 200; n++) await new Promise(resolve => setImmediate(resolve));
  respond();
  await until(async () => (await other.read(`/v1/events/${eventId}`)).status === 'delivered');
  await clock.advance(2 * limits.leaseMs);
  expect(destination.hits).toHaveLength(2);
});

it('are not needed by a circuit breaker, which one process opens', async () => {
  const hooks = await openWebhooks();
  const { store, clock } = hooks;
  await hooks.stop();
  const sourceId = await hooks.source();
  const connectionId = await hooks.connect(sourceId, (await openDestination()).url);
  const read = async () => (await store.get(connection, { sourceId, connectionId }, { consistent: true }))!;
  const deps = {
    store,
    clock,
    ids: createIds({ clock }),
    dueShards: { of: () => 'due', all: () => ['due'] },
  };
  const start = () =>
    createBreaker({
      ...deps,
      log: createLogger({ level: 'silent' }),
      sourceCache: { invalidate() {} },
    } as never);
  const [one, other] = [start(), start()];
  const before = await read();
  const fail = async (breaker: typeof one, seen: typeof before) => {
    for (let n = 0; n < limits.breakerFailures; n++) await breaker.failed(seen, 'no answer');
  };
  // Only failures in a row count.
  for (let n = 1; n < limits.breakerFailures; n++) await one.failed(before, 'no answer');
  await one.succeeded(before);
  await one.failed(before, 'no answer');
  expect(await read()).toEqual(before);
  await one.succeeded(before);

  await fail(one, before);
  await one.failed({ ...(await read()), breaker: 'half' }, 'no answer'); // nobody has made it half open
  const opened = await read();
  expect(opened).toMatchObject({ breaker: 'open', breakerTrips: 1 });
  await clock.advance(1000);
  await fail(other, before);
  expect(await read()).toEqual(opened);
});

it('are not needed by the rate of a connection, which processes share', async () => {
  const clock = manualClock();
  const { engine, client } = await openTables('embedded', clock);
  const processes = [1, 2, 3].map(seed => {
    const random = seededRandom(seed);
    return createRateLimiter({ store: createStore({ client, clock, random }), clock, random });
  });
  for (let second = 0; second < 3; second++) {
    const waits = await Promise.all(
      Array.from({ length: 30 }, (_, n) => processes[n % 3]!.take('conn_1', 7)),
    );
    const taken = waits.filter(waitMs => waitMs === 0).length;
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThanOrEqual(7);
    await clock.advance(1000);
  }
  await engine.close();
});
