import { manualOwners } from '@stak/kit';
import { afterEach, expect, test } from 'vitest';
import { shareReads } from '../src/index.ts';
import { work } from '../src/work/state-table.ts';
import {
  everyone,
  type Fixture,
  mirroring,
  openFixture,
  pass,
  pollable,
  startConsumer,
  until,
} from './stream-fixture.ts';

// Counts the units of the consumers' state while nothing happens, as DynamoDB would bill them.

const consumers = ['a', 'b', 'c', 'd', 'e'];
const servers = ['one', 'two', 'three'];
const minute = 60_000;
const hour = 60 * minute;

let fixture: Fixture;
afterEach(() => fixture.engine.close());

// Units a second of all servers together, after they have shared the shards.
async function idle(shards: number, prepare: () => Promise<void> = async () => {}) {
  const units = { read: 0, write: 0 };
  fixture = await openFixture({
    shards,
    onUsage: ({ table, kind, units: used }) => {
      if (table === 'stak-streams') units[kind] += used;
    },
  });
  await prepare();
  const owners = manualOwners();
  const running = servers.flatMap(server => {
    const source = shareReads(pollable(fixture).polled);
    return consumers.map(name =>
      startConsumer(fixture, {
        subscription: mirroring(fixture, { name }),
        source,
        owners: owners.as(server),
      }),
    );
  });
  const held = () => running.reduce((sum, one) => sum + one.shards(), 0);
  await until(fixture.clock, () => held() === shards * consumers.length);
  await pass(fixture.clock, minute);
  Object.assign(units, { read: 0, write: 0 });
  const startMs = fixture.clock.now();
  await pass(fixture.clock, 3 * minute);
  const seconds = (fixture.clock.now() - startMs) / 1000;
  const found = { read: units.read / seconds, write: units.write / seconds };
  await everyone(running);
  return found;
}

test('three idle servers cost less than a unit a second for five consumers', async () => {
  const { read, write } = await idle(1);
  expect(write).toBeLessThan(0.5); // 15 members and 5 shards a minute
  expect(read).toBeLessThan(1.5); // 15 looks in 15 seconds
}, 60_000);

test('a shard adds a renewal a minute for each consumer', async () => {
  const one = await idle(1);
  await fixture.engine.close();
  const nine = await idle(9);
  const added = { read: (nine.read - one.read) / 8, write: (nine.write - one.write) / 8 };
  expect(added.write).toBeLessThan(0.11); // five consumers
  expect(added.read).toBeLessThan(0.1);
}, 120_000);

test('finished shards are forgotten when the stream does not list them any more', async () => {
  const finished = (nowMs: number, hoursAgo: number) =>
    Array.from({ length: 100 }, (_, i) => ({
      consumer: 'a',
      work: `label/old-${hoursAgo}-${i}`,
      stream_arn: 'arn/label',
      shard_id: `old-${hoursAgo}-${i}`,
      fence: 1,
      finished_at: nowMs - hoursAgo * hour,
      expires_at: Math.ceil(nowMs / 1000) + 86_400,
    }));
  await idle(1, async () => {
    const { clock, store } = fixture;
    for (const hoursAgo of [2, 30])
      for (const item of finished(clock.now(), hoursAgo)) await store.put(work, item);
  });
  const { Items = [] } = await fixture.engine.client.scan({ TableName: 'stak-streams' });
  const left = Items.map(({ sk }) => String(sk)).filter(key => key.startsWith('work#label/old'));
  expect(left).toHaveLength(100);
  expect(left.every(key => key.startsWith('work#label/old-2-'))).toBe(true);
}, 60_000);
