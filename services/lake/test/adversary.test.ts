import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Random, seededRandom } from '@stak/kit';
import { createConsumer } from '@stak/streams';
import { createStreamAdversary, passingStreamFaults } from '@stak/streams/adversary';
import { createStore } from '@stak/table';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import { expect, test } from 'vitest';
import type { ObjectStore } from '../src/index.ts';
import { expectEveryChangeOnce, expectSameAsTable } from './evidence.ts';
import {
  ann,
  type Backend,
  bob,
  capture,
  endUser,
  keep,
  type OpenLake,
  openBackend,
  openLake,
  silent,
  until,
  watchCapture,
} from './lake-fixture.ts';
import { chore, newChore } from './test-table.ts';

// Two lakes over the same objects, on a store, a stream and a place for files that fail in every way that passes. Pages
// come twice and again, shards end, answers are lost. At the end bronze has each change once, and the rows are those of
// the table. STAK_ADVERSARY_SEED gives another history.

const given = Number(process.env.STAK_ADVERSARY_SEED);
const seeds = Number.isInteger(given) && given > 0 ? [given] : [1, 2];

const users = ['usr_ann', 'usr_bob', 't1:u1'];
const rounds = 8;

const lost = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

// Objects that are stored or removed, and nobody hears of it; or that are not, which looks the same.
function withLostAnswers(objects: ObjectStore, random: Random): ObjectStore & { lost(): number } {
  let count = 0;
  const losing =
    <Args extends unknown[], Output>(act: (...args: Args) => Promise<Output>) =>
    async (...args: Args): Promise<Output> => {
      const chance = random();
      if (chance < 0.02) throw lost();
      const output = await act(...args);
      if (chance >= 0.07) return output;
      count += 1;
      throw lost();
    };
  return {
    ...objects,
    put: losing(objects.put),
    putIfAbsent: losing(objects.putIfAbsent),
    putFile: losing(objects.putFile),
    delete: losing(objects.delete),
    lost: () => count,
  };
}

function failing(backend: Backend, seed: number) {
  const random = seededRandom(seed);
  const { clock } = backend;
  const { waitForChange: _, position: _position, ...polled } = backend.source;
  const client = createAdversary(backend.client, { ...passingFaults, lostAnswers: 0.1, random });
  const restless = { now: clock.now, sleep: async () => void (await setImmediate()) };
  return {
    ...backend,
    random,
    client,
    store: createStore({ client, clock: restless, random }),
    source: createStreamAdversary(polled, { random, ...passingStreamFaults }),
    objects: withLostAnswers(backend.objects, random),
  };
}

type Side = ReturnType<typeof failing>;

// Time passes until it is over: what fails is tried again after a moment. Slowly, because DuckDB takes real time, in which
// leases must not end.
async function whileTimePasses(backend: Backend, work: Promise<unknown>): Promise<void> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  ended.catch(() => {}); // awaited below
  while (!isOver) {
    await setTimeout(1);
    await backend.clock.advance(5);
  }
  await ended;
}

// Follows the stream until the lake has all that is in it.
async function follow(backend: Backend, side: Side, { subscriptions }: OpenLake): Promise<void> {
  const stopping = new AbortController();
  const { source, client, clock, random } = side;
  const running = subscriptions.map(subscription =>
    createConsumer({ subscription, source, client, clock, random, log: silent }).run(stopping.signal),
  );
  await until(backend, watchCapture(backend));
  stopping.abort();
  await whileTimePasses(backend, Promise.all(running));
}

async function maintain(backend: Backend, lake: OpenLake): Promise<void> {
  const attempt = (left: number): Promise<void> =>
    keep(lake).catch(error => {
      if (left === 0) throw error;
      return attempt(left - 1);
    });
  await whileTimePasses(backend, attempt(20));
}

test.each(seeds)(
  'the lake has each change once, whatever is repeated, seed %i',
  { timeout: 120_000 },
  async seed => {
    const random = seededRandom(seed);
    const below = (most: number) => Math.floor(random() * most);
    const backend = await openBackend({ shards: 2 });
    const sides = [failing(backend, seed + 1), failing(backend, seed + 2)] as const;
    const lakes = sides.map(side => openLake(side));
    const statuses = ['pending', 'completed'] as const;
    for (let round = 0; round < rounds; round++) {
      for (let n = 0; n < 8; n++) {
        const user_id = users[below(users.length)]!;
        const task_id = `task ${below(5)}`;
        const created_at = 1_767_225_600 + round;
        const status = statuses[below(2)]!;
        const completed_at = status === 'completed' ? created_at : null;
        if (random() < 0.2) await backend.store.delete(chore, { user_id, task_id });
        else await backend.store.put(chore, newChore(user_id, task_id, { created_at, status, completed_at }));
      }
      if (round % 3 === 1) await backend.engine.rollShards('chores');
      const side = round % 2;
      await follow(backend, sides[side]!, lakes[side]!);
      if (round % 3 === 2) await maintain(backend, lakes[1 - side]!);
    }

    // Read through a place for files that does not fail.
    const plain = openLake(backend);
    await capture(backend, plain);
    await expectEveryChangeOnce(backend);
    const { Items = [] } = await backend.client.scan({ TableName: 'chores', ConsistentRead: true });
    const stored = Items.filter(({ sk }) => String(sk).startsWith('TASK#')).length;
    for (const _ of ['as it is', 'compacted']) {
      const seen: number[] = [];
      for (const [caller, isTheirs] of [
        [ann, (user: string) => user !== 'usr_bob'],
        [bob, (user: string) => user === 'usr_bob'],
        [endUser, (user: string) => user === 't1:u1'],
      ] as const) {
        await expectSameAsTable(backend, plain, caller, isTheirs);
        const { rows } = await plain.query(caller, 'select count(*) from tasks');
        seen.push(Number(rows[0]![0]));
      }
      expect(seen[0]! + seen[1]!).toBe(stored); // ann has those of her tenant's users as well
      await maintain(backend, plain);
    }
    await expectEveryChangeOnce(backend);
    expect(sides.reduce((sum, { objects }) => sum + objects.lost(), 0)).toBeGreaterThan(0);
    await backend.engine.close();
  },
);
