import { setImmediate } from 'node:timers/promises';
import { type ManualClock, manualClock, seededRandom } from '@stak/kit';
import { createStore, type DynamoClient } from '@stak/table';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineSkill } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import {
  conversationPath,
  everyItem,
  type Fixture,
  openFixture,
  openProcess,
  say,
} from './agents-fixture.ts';

// Several processes whose clocks are a second apart and are set now and then, on a store that fails in every way that
// passes and whose indexes answer as they did a moment ago. People write to few conversations at the same time, approve, and processes are
// killed in the middle of what they do. At the end everything that is stored is counted again.
// STAK_ADVERSARY_SEED gives another history. The order in which the store answers is not part of the seed.

const given = Number(process.env.STAK_ADVERSARY_SEED);
const seeds = Number.isInteger(given) && given > 0 ? [given] : [1, 2];

const conversations = ['c0', 'c1'];
const rounds = 10;

const hang = () => new Promise<never>(() => {});

// A process that can be killed, and what it waits for.
type CrashingProcess = Fixture & {
  kill(): void;
  stepClock(ms: number): void;
  store: { running(): number };
};

function crashingClient(client: DynamoClient) {
  let isDead = false;
  let running = 0;
  const wrapped = Object.fromEntries(
    Object.entries(client).map(([name, operation]) => [
      name,
      typeof operation !== 'function'
        ? operation
        : async (input: never) => {
            if (isDead) return hang();
            running += 1;
            try {
              const output = await (operation as (input: never) => Promise<unknown>)(input);
              return isDead ? hang() : output; // made, and nobody hears of it
            } finally {
              running -= 1;
            }
          },
    ]),
  ) as unknown as DynamoClient;
  return {
    client: wrapped,
    running: () => running,
    kill: () => {
      isDead = true;
    },
  };
}

// Payments by the key of the call: a receiver that knows a key ignores it.
function createBank() {
  const paid = new Map<string, string>();
  const skill = defineSkill({
    name: 'pay',
    description: 'Pays somebody.',
    triggers: [/^pay (?<to>\w+)$/i],
    parameters: z.strictObject({ to: z.string() }),
    acts: true,
    async run({ to }, { idempotency_key }) {
      paid.set(idempotency_key!, to);
      return { data: { paid: to }, text: `Paid ${to}.` };
    },
  });
  return { paid, skill };
}

describe('processes that share conversations, on a store that fails', () => {
  it.each(seeds)('answer each message once, and count it once, seed %i', { timeout: 120_000 }, async seed => {
    const random = seededRandom(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const clock = manualClock();
    const first = await openFixture(undefined, { clock });
    const { target } = first;
    const bank = createBank();
    const adversary = createAdversary(target.client, {
      ...passingFaults,
      lostAnswers: 0.06,
      staleIndexes: 0.3,
      clock,
      random: seededRandom(seed + 1),
    });
    const restless = { now: clock.now, sleep: async () => void (await setImmediate()) };
    const start = (offsetMs: number): CrashingProcess => {
      const { client, running, kill } = crashingClient(adversary);
      let ownMs = offsetMs;
      const own: ManualClock = { ...clock, now: () => clock.now() + ownMs };
      const store = createStore({ client, clock: restless, random: seededRandom(seed + offsetMs) });
      const fixture = openProcess(target, {
        client,
        clock: own,
        store,
        isStoreLocal: false,
        random: seededRandom(seed + offsetMs + 7),
        skills: [bank.skill],
        roleOf: async () => 'admin',
      });
      fixture.tenants.get('acme')!.settings = { enabled_skills: ['pay'], messages_per_day: 10_000 };
      // As a time service does, back and forth. Clocks stay a second off at most.
      const stepClock = (ms: number) => {
        ownMs = Math.max(-1000, Math.min(1000, ownMs + ms));
      };
      return Object.assign(fixture, { kill, stepClock, store: { running } });
    };
    const offsets = [0, 1000, -1000];
    const alive = offsets.map(start);

    // Time passes while nobody waits for the store. Requests to a process that was killed are never answered.
    const finish = async (work: readonly { by: CrashingProcess; done: Promise<unknown> }[]) => {
      const open = new Set(work);
      for (const one of work) void one.done.catch(() => {}).finally(() => open.delete(one));
      const isWaiting = () => [...open].some(({ by }) => alive.includes(by));
      for (let turns = 0; isWaiting() && turns < 5_000; )
        if (alive.some(({ store }) => store.running() > 0)) await setImmediate();
        else {
          await clock.advance(20);
          turns += 1;
        }
      expect(isWaiting()).toBe(false);
    };

    const answered = new Map<string, { conversation: string; seq: number }>();
    const said = new Map<string, number>(); // by text: the status, or 0 while it is unknown
    let kills = 0;
    let texts = 0;
    const speak = async (by: CrashingProcess, conversation: string) => {
      const isPayment = random() < 0.15;
      const text = isPayment ? `pay person${texts++}` : `question ${texts++}`;
      said.set(text, 0);
      const { status, body } = await say(by, conversation, text);
      said.set(text, status);
      if (status === 200) answered.set(text, { conversation, seq: body.seq });
      else expect([202, 409, 503]).toContain(status);
    };
    const decided = new Map<string, boolean>();
    const decide = async (by: CrashingProcess, conversation: string, id: string, approved: boolean) => {
      const send = { approved };
      const { status } = await by.call('POST', `${conversationPath(conversation)}/approvals/${id}`, { send });
      if (status !== 200) return;
      expect(decided.get(id) ?? approved, 'the first decision counts').toBe(approved);
      decided.set(id, approved);
    };
    const waiting = async (by: CrashingProcess) => {
      const { body } = await by.call('GET', '/v1/tenants/acme/approvals');
      return (body.data ?? []) as { approval_id: string; conversation_id: string }[];
    };

    for (let round = 0; round < rounds; round++) {
      const work: { by: CrashingProcess; done: Promise<unknown> }[] = [];
      const add = (by: CrashingProcess, done: Promise<unknown>) => void work.push({ by, done });
      for (let n = 0; n < 5; n++) {
        const by = pick(alive);
        add(by, speak(by, pick(conversations)));
      }
      const worker = pick(alive);
      add(worker, worker.agents.runDue());
      if (round % 3 === 2) {
        const [victim] = alive.splice(Math.floor(random() * alive.length), 1);
        for (let left = Math.floor(random() * 12); left > 0; left--) await setImmediate();
        victim!.kill();
        kills += 1;
        alive.push(start(pick(offsets)));
      }
      await finish(work);
      await clock.advance(pick([0, 1000, 40_000]));
      pick(alive).stepClock(pick([-2000, -700, 700, 2000]));
      const listing = { by: alive[0]!, done: waiting(alive[0]!) };
      await finish([listing]);
      // Two people decide at the same time, not always the same.
      const deciding = (await listing.done).flatMap(({ approval_id, conversation_id }) =>
        alive.slice(0, 2).map(by => ({
          by,
          done: decide(by, conversation_id, approval_id, random() < 0.7),
        })),
      );
      await finish(deciding);
    }

    for (let round = 0; round < 6; round++) {
      await clock.advance(Math.max(limits.leaseMs, 60_000)); // leases end, failed turns are tried again
      const work = alive.map(by => ({ by, done: by.agents.runDue() }));
      await finish(work);
      const listing = { by: alive[0]!, done: waiting(alive[0]!) };
      await finish([listing]);
      await finish(
        (await listing.done).map(({ approval_id, conversation_id }) => ({
          by: alive[0]!,
          done: decide(alive[0]!, conversation_id, approval_id, true),
        })),
      );
    }

    // From here on, what is stored is read by a process whose store does not fail.
    const texted = new Map<string, number>();
    for (const conversation of conversations) {
      const { body } = await first.call('GET', `${conversationPath(conversation)}/messages?limit=100`);
      const turns = body.data as {
        seq: number;
        messages: { role: string; content: string }[];
      }[];
      expect(turns.map(({ seq }) => seq)).toEqual(turns.map((_, i) => i + 1));
      for (const { seq, messages } of turns)
        for (const { role, content } of messages) {
          if (role !== 'user') continue;
          texted.set(content, (texted.get(content) ?? 0) + 1);
          const known = answered.get(content);
          if (known) expect(known, content).toEqual({ conversation, seq });
        }
    }
    for (const [text, count] of texted) expect([text, count]).toEqual([text, 1]);
    for (const [text, status] of said)
      if (status === 200 || status === 202) expect([text, texted.get(text)]).toEqual([text, 1]);

    const items = await everyItem(target);
    const turns = items.filter(({ sk }) => String(sk).startsWith('TURN#'));
    const stored = turns.reduce((sum, { message_ids }) => sum + (message_ids as string[]).length, 0);
    expect(items.filter(({ sk, status }) => String(sk).startsWith('MSG#') && status === 'waiting')).toEqual(
      [],
    );
    expect(items.filter(({ sk, fence }) => sk === 'STATE' && fence !== undefined)).toEqual([]);
    expect(items.filter(({ sk }) => sk === 'PAUSED')).toEqual([]);
    for (const { sk, waiting_count, waiting: ids } of items)
      if (sk === 'STATE')
        expect([waiting_count, (ids as Set<string> | undefined)?.size ?? 0]).toEqual([0, 0]);

    // Each approved payment was made under one key, and no other.
    const approved = [...decided.values()].filter(Boolean).length;
    expect(new Set(bank.paid.values()).size).toBe(bank.paid.size);
    expect(bank.paid.size).toBe(approved);

    // A crash in between counts one message too many, never one too few.
    const usage = await first.call('GET', '/v1/tenants/acme/agent-usage');
    const counted: number = usage.body.total.messages;
    const unknown = [...said].filter(
      ([text, status]) => !texted.has(text) && [0, 503].includes(status),
    ).length;
    expect(counted).toBeGreaterThanOrEqual(stored);
    expect(counted).toBeLessThanOrEqual(stored + unknown);
    expect(kills).toBeGreaterThan(0);
    const { throttled, lostAnswers } = adversary.counts;
    expect([throttled, lostAnswers]).not.toContain(0);
    await target.close();
  });
});
