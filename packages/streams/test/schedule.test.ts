import { createStore } from '@stak/table';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Crashing, crashing } from './crashing.ts';
import {
  everyone,
  expectMirrored,
  type Fixture,
  isMirrored,
  mirroring,
  openFixture,
  type Running,
  startConsumer,
  until,
  writeNotes,
} from './stream-fixture.ts';

// Writers, roll-overs, and processes that come, go and die, in any order.

type Process = { running: Running; crashing: Crashing };
type Scenario = { fixture: Fixture; processes: Process[]; batchRecords: number; concurrency: number };
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

function start({ fixture, processes, batchRecords, concurrency }: Scenario): void {
  const itsLife = crashing(fixture);
  const store = createStore({ client: itsLife.client, clock: fixture.clock });
  const subscription = mirroring({ store, clock: fixture.clock }, { batchRecords, concurrency });
  const { source, client } = itsLife;
  processes.push({ crashing: itsLife, running: startConsumer(fixture, { subscription, source, client }) });
}

async function take(scenario: Scenario, step: Step): Promise<void> {
  const { fixture, processes } = scenario;
  switch (step.do) {
    case 'write':
      return writeNotes(fixture, step.ids);
    case 'wait':
      return fixture.clock.advance(step.ms);
    case 'start':
      return start(scenario);
    case 'stop':
      return processes.shift()?.running.stop();
    case 'kill':
      return processes.shift()?.crashing.kill();
    case 'roll':
      return fixture.engine.rollShards('notes');
  }
}

const settings = fc.record({
  shards: fc.integer({ min: 1, max: 3 }),
  batchRecords: fc.integer({ min: 1, max: 5 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
});

test('in any schedule, every change has its effect once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(settings, fc.array(step, { minLength: 5, maxLength: 25 }), async (chosen, steps) => {
      const fixture = await openFixture({ shards: chosen.shards });
      const scenario: Scenario = { fixture, processes: [], ...chosen };
      for (const one of steps) await take(scenario, one);
      start(scenario);
      await until(fixture.clock, () => isMirrored(fixture), { stepMs: 500 });
      await everyone(scenario.processes.map(({ running }) => running));
      await expectMirrored(fixture);
      const failures = scenario.processes.map(({ running }) => running.counters().failures);
      expect(failures.every(count => count === 0)).toBe(true);
      await fixture.engine.close();
    }),
    { numRuns: process.env.STAK_LONG_TESTS ? 30 : 12, endOnFailure: true },
  );
}, 120_000);
