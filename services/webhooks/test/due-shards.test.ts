import { createIds, createLogger, manualClock, manualOwners, seededRandom } from '@stak/kit';
import { createStore, type DynamoClient } from '@stak/table';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import { describe, expect, it } from 'vitest';
import { createQueueShards } from '../src/delivery/due-shards.ts';
import * as limits from '../src/limits.ts';
import { dueShardCount } from '../src/tables.ts';
import { answer, openDestination } from './destination.ts';
import { type Fixture, leap, openTables, openWebhooks, startWebhooks, until } from './webhooks-fixture.ts';

const minuteMs = 60_000;
const shards = (count: number) => Array.from({ length: count }, (_, i) => `DUE#s${i}`);

const isAdded = (partition: string) => !shards(limits.dueShards).includes(partition);

// The partitions in which deliveries are due.
async function dueIn({ client }: { client: DynamoClient }): Promise<string[]> {
  const { Items = [] } = await client.scan({ TableName: 'ferryhook-events', IndexName: 'GSI2' });
  const deliveries = Items.filter(({ SK }) => String(SK).startsWith('DLV#'));
  return deliveries.map(({ GSI2PK }) => String(GSI2PK));
}

// Another process on the same store.
const startBeside = ({ clock, engine }: Fixture, change: Partial<Parameters<typeof startWebhooks>[0]> = {}) =>
  startWebhooks({ clock, ...change }, engine.client, engine);

// A process whose workers have stopped: what it stores is due, and nobody here looks at it.
async function stopWith(hooks: Fixture): Promise<Fixture> {
  await hooks.stop();
  await hooks.webhooks.prepare();
  return hooks;
}

async function sendMany(hooks: Fixture, count: number) {
  const destination = await openDestination();
  const sourceId = await hooks.source();
  await hooks.connect(sourceId, destination.url);
  const sent: string[] = [];
  for (let n = 0; n < count; n++) sent.push(await hooks.send(sourceId));
  const isDone = () => destination.hits.length >= count;
  const delivered = () => destination.hits.map(({ headers }) => headers['webhook-id']).sort();
  return { sent: sent.sort(), isDone, delivered };
}

// The queue is read. Then time stands still: it would run faster than requests do, and they would time out.
async function untilRead({ clock }: Fixture, holds: () => unknown): Promise<void> {
  await clock.advance(2 * limits.scanMs);
  await until(holds);
}

describe('the shards of due work', () => {
  it('follow the setting, and share the deliveries', async () => {
    const clock = manualClock();
    const ids = createIds({ clock, random: seededRandom(1) });
    const hooks = await stopWith(await openWebhooks({ clock, ids, dueShards: 12 }));
    await sendMany(hooks, 60);
    expect(new Set(await dueIn(hooks.engine))).toEqual(new Set(shards(12)));
  });

  it('have a default number, which is not stored', async () => {
    const hooks = await stopWith(await openWebhooks());
    await sendMany(hooks, 20);
    expect((await dueIn(hooks.engine)).filter(isAdded)).toEqual([]);
    expect(await hooks.store.get(dueShardCount, {})).toBeUndefined();
  });

  it('can be increased while work is due', async () => {
    const first = await stopWith(await openWebhooks());
    const { sent, isDone, delivered } = await sendMany(first, 30);
    await startBeside(first, { dueShards: 12 });
    await untilRead(first, isDone);
    expect(delivered()).toEqual(sent);
  });

  it('are all read after the setting was lowered', async () => {
    const first = await stopWith(await openWebhooks({ dueShards: 12 }));
    const { sent, isDone, delivered } = await sendMany(first, 30);
    expect((await dueIn(first.engine)).filter(isAdded)).not.toEqual([]);
    await startBeside(first);
    await untilRead(first, isDone);
    expect(delivered()).toEqual(sent);
  });

  it('are read within a minute by a process with a lower setting, after the other one died', async () => {
    const lower = await openWebhooks();
    await lower.webhooks.prepare();
    const higher = await stopWith(await startBeside(lower, { dueShards: 12 }));
    const { sent, isDone, delivered } = await sendMany(higher, 30);
    await untilRead(lower, async () => (await dueIn(lower.engine)).every(isAdded));
    expect(isDone()).toBe(false);
    await leap(lower.clock, minuteMs);
    await until(isDone);
    expect(delivered()).toEqual(sent);
  });

  it('are read at once if the other process is known to have died', async () => {
    const owners = manualOwners();
    const lower = await openWebhooks({ owners: owners.as('lower') });
    await lower.webhooks.prepare();
    const higher = await startBeside(lower, { owners: owners.as('higher'), dueShards: 12 });
    await stopWith(higher);
    const { sent, isDone, delivered } = await sendMany(higher, 30);
    owners.end('higher');
    await until(isDone);
    expect(delivered()).toEqual(sent);
  });

  it('do not keep a replay from making a retry due that is in another shard', async () => {
    const first = await openWebhooks();
    const destination = await openDestination(answer(500));
    const sourceId = await first.source();
    await first.connect(sourceId, destination.url);
    const sent: string[] = [];
    for (let n = 0; n < 3; n++) sent.push(await first.send(sourceId));
    const statusOf = async (eventId: string) => (await first.read(`/v1/events/${eventId}`)).status;
    for (const eventId of sent) await until(async () => (await statusOf(eventId)) === 'retrying');
    await first.stop();
    destination.answer = answer(200);
    const second = await startBeside(first, { dueShards: 13 });
    await second.webhooks.prepare();
    for (const eventId of sent) {
      await second.post(`/v1/events/${eventId}/replay`, {});
      await until(async () => (await statusOf(eventId)) === 'delivered');
    }
  });
});

describe('the shards of due work of several processes', () => {
  // One process of several, on a store that cannot tell whether anything was written.
  async function openRanked(rank: number) {
    const reads: number[] = [];
    const clock = manualClock();
    const wrap = (client: DynamoClient): DynamoClient => ({
      ...client,
      query(input) {
        if (input.IndexName === 'GSI2') reads.push(clock.now());
        return client.query(input);
      },
    });
    const owners = { ...manualOwners().as('one'), rankOf: () => rank };
    const hooks = await openWebhooks({ clock, owners, wrap, changePosition: () => Number.NaN });
    const readsOf = async (ms: number) => {
      reads.length = 0;
      for (let left = ms; left > 0; left -= 250) {
        await clock.advance(250);
        for (let n = 0; n < 20; n++) await new Promise(resolve => setImmediate(resolve));
      }
      return reads.length / limits.dueShards;
    };
    return { hooks, clock, readsOf };
  }

  it.each([
    [0, 60],
    [1, 12],
    [2, 7],
    [100, 4],
  ])('are read less often by a process that is not the first (rank %i)', async (rank, times) => {
    const { readsOf } = await openRanked(rank);
    await readsOf(20_000); // after its start
    const found = await readsOf(60_000);
    expect(found).toBeGreaterThanOrEqual(times - 1);
    expect(found).toBeLessThanOrEqual(times + 1);
  });

  it('are read by the others if the first one does not get to them', async () => {
    const { hooks, clock, readsOf } = await openRanked(2);
    await readsOf(20_000);
    const first = await stopWith(await startBeside(hooks));
    const { sent, isDone, delivered } = await sendMany(first, 5);
    const startMs = clock.now();
    for (let n = 0; n < 60 && !isDone(); n++) await readsOf(250);
    expect(clock.now() - startMs).toBeLessThanOrEqual(10_000);
    await until(isDone);
    expect(delivered()).toEqual(sent);
  });
});

describe('the stored number of shards', () => {
  const open = async (faults: object, seed: number) => {
    const clock = manualClock();
    const { client } = await openTables('embedded', clock);
    const random = seededRandom(seed);
    const adversary = createAdversary(client, { random, ...faults });
    const restless = { now: clock.now, sleep: async () => {} }; // the store sleeps before it retries
    const process = (dueShards: number) =>
      createQueueShards({
        store: createStore({ client: adversary, clock: restless, random }),
        clock,
        log: createLogger({ level: 'silent' }),
        dueShards,
      });
    const stored = async () =>
      (await createStore({ client, clock }).get(dueShardCount, {}, { consistent: true }))?.shards;
    return { process, stored, clock, adversary };
  };

  it('is raised once, even if no response to a write arrives', async () => {
    const { process, stored, adversary } = await open({ lostAnswers: 1 }, 1);
    const one = process(12);
    await one.refresh();
    expect(adversary.counts.lostAnswers).toBe(1);
    expect([one.all().length, await stored()]).toEqual([12, 12]);
  });

  it.each([1, 2, 3, 4, 5])('is the highest one, whatever fails (seed %i)', async seed => {
    const { process, stored, clock } = await open({ ...passingFaults, lostAnswers: 0.5 }, seed);
    const all = [12, 20, 9].map(process);
    for (let round = 0; round < 20; round++) {
      await Promise.all(all.map(one => one.refresh()));
      const known = (await stored()) ?? limits.dueShards;
      for (const one of all) expect(one.all().length).toBeLessThanOrEqual(known);
      await clock.advance(minuteMs);
    }
    expect([await stored(), ...all.map(one => one.all().length)]).toEqual([20, 20, 20, 20]);
  });
});
