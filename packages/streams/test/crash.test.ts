import { createStore } from '@stak/table';
import { expect, test } from 'vitest';
import { crashing } from './crashing.ts';
import {
  expectMirrored,
  type House,
  isMirrored,
  mirroring,
  openHouse,
  startConsumer,
  until,
  writeNotes,
} from './stream-fixture.ts';

// A consumer is killed at every step it ever makes, and another one takes over.

async function liveFor(lifetime: number): Promise<{ house: House; died: boolean; at: string }> {
  const house = await openHouse({ shards: 2 });
  await writeNotes(house, ['a', 'b', 'c'], 2);
  await house.engine.rollShards('notes');
  await writeNotes(house, ['a', 'b'], 1);

  const process = crashing(house, lifetime);
  const itsStore = createStore({ client: process.client, clock: house.clock });
  const subscription = mirroring({ store: itsStore, clock: house.clock }, { batchRecords: 2 });
  const victim = startConsumer(house, { subscription, source: process.source, client: process.client });
  await until(house.clock, async () => process.isDead() || (await isMirrored(house)), { stepMs: 500 });
  if (!process.isDead()) await Promise.race([victim.stop(), until(house.clock, process.isDead)]);
  return { house, died: process.isDead(), at: process.lastCall() };
}

test('killed at any step, nothing is lost, nothing happens twice, and items keep their order', async () => {
  const killedAt = new Set<string>();
  for (let lifetime = 0; ; lifetime++) {
    const { house, died, at } = await liveFor(lifetime);
    killedAt.add(at);
    await writeNotes(house, ['c'], 1);
    const successor = startConsumer(house, { subscription: mirroring(house, { batchRecords: 2 }) });
    await until(house.clock, () => isMirrored(house), { stepMs: 500 });
    await successor.stop();
    await expectMirrored(house);
    await house.engine.close();
    if (!died) break;
    expect(lifetime).toBeLessThan(1000);
  }
  for (const call of ['getRecords', 'transactWrite', 'update', 'getShardIterator', 'describeStream'])
    expect([...killedAt]).toEqual(expect.arrayContaining([`before ${call}`, `after ${call}`]));
}, 120_000);
