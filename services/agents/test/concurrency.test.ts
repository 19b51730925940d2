import { env } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  conversationPath,
  everyItem,
  type Fixture,
  openFixture,
  openProcess,
  say,
  settle,
} from './agents-fixture.ts';
import { createFaults } from './faults.ts';

type Plain = { role: string; content: string };
type Step =
  | { kind: 'say'; process: number; conversation: number; together: number }
  | { kind: 'clear'; process: number; conversation: number }
  | { kind: 'fault'; process: number; after: number; when: 'before' | 'after' }
  | { kind: 'crash'; process: number }
  | { kind: 'wait'; seconds: number }
  | { kind: 'work'; process: number }
  | { kind: 'expire' };

const processes = 3;
const conversations = 2;
const process = fc.nat(processes - 1);
const conversation = fc.nat(conversations - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('say' as const),
      process,
      conversation,
      together: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('clear' as const), process, conversation }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      process,
      after: fc.nat(12),
      when: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const), process }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 20, 40) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('work' as const), process }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const) }) },
);

describe('several processes that write, clear, fail and die', () => {
  it('keep every acknowledged turn once and in order, and leave no message without an outcome', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async steps => {
        const first = await openFixture();
        try {
          await run(first, steps);
        } finally {
          await first.target.close();
        }
      }),
      { numRuns: env.STAK_LONG_TESTS ? 20 : 6 },
    );
  }, 60_000);
});

// What is known to have happened: answers that were given, and clears that were confirmed or may have happened.
async function run(first: Fixture, steps: readonly Step[]): Promise<void> {
  const { clock, target } = first;
  const faults = Array.from({ length: processes }, () => createFaults(target.client));
  const open = (i: number) => openProcess(target, { clock, client: faults[i]!.client });
  const fixtures = faults.map((_, i) => open(i));
  const acknowledged = Array.from({ length: conversations }, () => new Map<string, number>());
  let said = 0;

  // Requests that wait for each other, or for time to pass. It passes when none of them waits for the store, which takes
  // as long as the machine is busy.
  const finish = async (work: readonly Promise<unknown>[]) => {
    let left = work.length;
    for (const one of work)
      one.then(
        () => left--,
        () => left--,
      );
    for (let turns = 0; left > 0 && turns < 5_000; )
      if (faults.some(({ running }) => running() > 0)) await setImmediate();
      else {
        await clock.advance(10);
        turns += 1;
      }
    expect(left).toBe(0);
  };

  const speak = async (fixture: Fixture, c: number) => {
    const text = `question ${said++}`;
    const { status, body } = await say(fixture, `c${c}`, text);
    if (status === 200) acknowledged[c]!.set(text, body.seq);
  };

  for (const step of steps) {
    if (step.kind === 'say') {
      const work = Array.from({ length: step.together }, (_, i) =>
        speak(fixtures[(step.process + i) % processes]!, step.conversation),
      );
      await finish(work);
    } else if (step.kind === 'clear') {
      acknowledged[step.conversation]!.clear(); // confirmed or not, nobody may rely on what was there
      const path = `${conversationPath(`c${step.conversation}`)}/messages`;
      await finish([fixtures[step.process]!.call('DELETE', path)]);
    } else if (step.kind === 'fault') faults[step.process]!.failNext(step.after, step.when);
    else if (step.kind === 'crash') {
      faults[step.process]!.reset();
      fixtures[step.process] = open(step.process);
    } else if (step.kind === 'wait') await clock.advance(step.seconds * 1000);
    else if (step.kind === 'work') await finish([fixtures[step.process]!.agents.runDue()]);
    else {
      for (const map of acknowledged) map.clear();
      await clock.advance(31 * 24 * 60 * 60 * 1000);
    }
  }

  for (const fault of faults) fault.reset();
  const survivor = open(0);
  for (let i = 0; i < 4; i++) {
    await clock.advance(60_000); // leases end, failed turns are tried again
    const settled = settle(survivor);
    await finish([settled]);
    await settled;
  }
  for (const [c, expected] of acknowledged.entries()) {
    const path = `${conversationPath(`c${c}`)}/messages?limit=100`;
    const { body } = await survivor.call('GET', path);
    const turns = (body.data ?? []) as { seq: number; messages: Plain[] }[];
    expect(turns.map(({ seq }) => seq)).toEqual(turns.map((_, i) => i + 1));
    const asked = turns.flatMap(turn =>
      turn.messages.filter(({ role }) => role === 'user').map(({ content }) => ({ content, seq: turn.seq })),
    );
    expect(new Set(asked.map(({ content }) => content)).size).toBe(asked.length);
    for (const [text, seq] of expected)
      expect(asked.filter(({ content }) => content === text)).toEqual([{ content: text, seq }]);
  }
  const items = await everyItem(target);
  expect(items.filter(({ sk, status }) => String(sk).startsWith('MSG#') && status === 'waiting')).toEqual([]);
  expect(items.filter(({ sk, fence }) => sk === 'STATE' && fence !== undefined)).toEqual([]);
}
