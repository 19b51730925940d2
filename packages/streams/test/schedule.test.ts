import { createStore } from '@stak/table';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Crashing, crashing } from './crashing.ts';
import {
  everyone,
  expectMirrored,
  type House,
  isMirrored,
  mirroring,
  openHouse,
  type Running,
  startConsumer,
  until,
  writeNotes,
} from './stream-fixture.ts';

// Writers, roll-overs, and processes that come, go and die, in any order.

type Process = { running: Running; crashing: Crashing };
type World = { house: House; processes: Process[]; batchRecords: number; concurrency: number };
type Step =
  | { do: 'write'; ids: string[] }
  | { do: 'wait'; ms: number }
  | { do: 'start' | 'stop' | 'kill' | 'roll' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 6 })
      .map(ids => ({ do: 'write', ids }) as const),
  },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 20_000 }).map(ms => ({ do: 'wait', ms }) as const) },
  { weight: 3, arbitrary: fc.constant({ do: 'start' } as const) },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ do: 'stop' } as const, { do: 'kill' } as const, { do: 'roll' } as const),
  },
);

function start({ house, processes, batchRecords, concurrency }: World): void {
  const itsLife = crashing(house);
  const store = createStore({ client: itsLife.client, clock: house.clock });
  const subscription = mirroring({ store, clock: house.clock }, { batchRecords, concurrency });
  const { source, client } = itsLife;
  processes.push({ crashing: itsLife, running: startConsumer(house, { subscription, source, client }) });
}

async function take(world: World, step: Step): Promise<void> {
  const { house, processes } = world;
  switch (step.do) {
    case 'write':
      return writeNotes(house, step.ids);
    case 'wait':
      return house.clock.advance(step.ms);
    case 'start':
      return start(world);
    case 'stop':
      return processes.shift()?.running.stop();
    case 'kill':
      return processes.shift()?.crashing.kill();
    case 'roll':
      return house.engine.rollShards('notes');
  }
}

const settings = fc.record({
  shards: fc.integer({ min: 1, max: 3 }),
  batchRecords: fc.integer({ min: 1, max: 5 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
});

test('whatever happens, every change has its effect once and in its order', async () => {
  await fc.assert(
    fc.asyncProperty(settings, fc.array(step, { minLength: 5, maxLength: 25 }), async (chosen, steps) => {
      const house = await openHouse({ shards: chosen.shards });
      const world: World = { house, processes: [], ...chosen };
      for (const one of steps) await take(world, one);
      start(world);
      await until(house.clock, () => isMirrored(house), { stepMs: 500 });
      await everyone(world.processes.map(({ running }) => running));
      await expectMirrored(house);
      const failures = world.processes.map(({ running }) => running.counters().failures);
      expect(failures.every(count => count === 0)).toBe(true);
      await house.engine.close();
    }),
    { numRuns: process.env.STAK_LONG_TESTS ? 30 : 12, endOnFailure: true },
  );
}, 120_000);
