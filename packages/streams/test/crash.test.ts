import { createStore } from '@stak/table';
import { expect, test } from 'vitest';
import { crashing } from './crashing.ts';
import {
  expectMirrored,
  type Fixture,
  isMirrored,
  mirroring,
  openFixture,
  startConsumer,
  until,
  writeNotes,
} from './stream-fixture.ts';

// A consumer is killed at every step it ever makes, and another one takes over.

async function liveFor(lifetime: number): Promise<{ fixture: Fixture; died: boolean; at: string }> {
  const fixture = await openFixture({ shards: 2 });
  await writeNotes(fixture, ['a', 'b', 'c'], 2);
  await fixture.engine.rollShards('notes');
  await writeNotes(fixture, ['a', 'b'], 1);

  const process = crashing(fixture, lifetime);
  const itsStore = createStore({ client: process.client, clock: fixture.clock });
  const subscription = mirroring({ store: itsStore, clock: fixture.clock }, { batchRecords: 2 });
  const victim = startConsumer(fixture, { subscription, source: process.source, client: process.client });
  await until(fixture.clock, async () => process.isDead() || (await isMirrored(fixture)), { stepMs: 500 });
  if (!process.isDead()) await Promise.race([victim.stop(), until(fixture.clock, process.isDead)]);
  return { fixture, died: process.isDead(), at: process.lastCall() };
}

test('killed at any step, nothing is lost, nothing happens twice, and items keep their order', async () => {
  const killedAt = new Set<string>();
  for (let lifetime = 0; ; lifetime++) {
    const { fixture, died, at } = await liveFor(lifetime);
    killedAt.add(at);
    await writeNotes(fixture, ['c'], 1);
    const successor = startConsumer(fixture, { subscription: mirroring(fixture, { batchRecords: 2 }) });
    await until(fixture.clock, () => isMirrored(fixture), { stepMs: 500 });
    await successor.stop();
    await expectMirrored(fixture);
    await fixture.engine.close();
    if (!died) break;
    expect(lifetime).toBeLessThan(1000);
  }
  for (const call of ['getRecords', 'transactWrite', 'update', 'getShardIterator', 'describeStream'])
    expect([...killedAt]).toEqual(expect.arrayContaining([`before ${call}`, `after ${call}`]));
}, 120_000);
