import { createLogger, manualClock, seededRandom } from '@stak/kit';
import { createStore, createTables } from '@stak/table';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import { afterEach, describe, expect, it } from 'vitest';
import { conversationsTable } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { dueShardCount } from '../src/main-table.ts';
import { createConversationShards } from '../src/state/due-shards.ts';
import {
  conversationPath,
  everyItem,
  type Fixture,
  openFixture,
  openProcess,
  say,
  settle,
  type Target,
  targets,
} from './agents-fixture.ts';

const minuteMs = 60_000;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function open(dueShards?: number): Promise<Fixture> {
  const fixture = await openFixture(undefined, { dueShards });
  closers.push(fixture.target.close);
  await fixture.agents.prepare();
  return fixture;
}

const partitions = (count: number) => Array.from({ length: count }, (_, i) => `DUE#${i}`);
const isAdded = (partition: string) => !partitions(limits.dueShards).includes(partition);
const states = async (target: Target) => (await everyItem(target)).filter(({ sk }) => sk === 'STATE');
const dueIn = async (target: Target) => (await states(target)).map(({ due_pk }) => String(due_pk));

// Conversations that are deleted: their state is due until a worker has removed everything.
async function deleteMany(fixture: Fixture): Promise<void> {
  for (let n = 0; n < 36; n++) {
    expect((await say(fixture, `c${n}`, 'Hello')).status).toBeLessThan(300);
    await fixture.call('DELETE', conversationPath(`c${n}`));
  }
}

describe('the shards of due work', () => {
  it('follow the setting, and share the conversations', async () => {
    const fixture = await open(10);
    await deleteMany(fixture);
    expect(new Set(await dueIn(fixture.target))).toEqual(new Set(partitions(10)));
    await settle(fixture);
    expect(await states(fixture.target)).toEqual([]);
  });

  it('have a default number, which is not stored', async () => {
    const fixture = await open();
    await deleteMany(fixture);
    expect(new Set(await dueIn(fixture.target))).toEqual(new Set(partitions(limits.dueShards)));
    expect((await everyItem(fixture.target)).filter(({ pk }) => pk === 'DUE#SHARDS')).toEqual([]);
  });

  it('can be increased while work is due', async () => {
    const { target, ...first } = await open();
    await deleteMany({ target, ...first });
    await settle(openProcess(target, { clock: first.clock, dueShards: 12 }));
    expect(await states(target)).toEqual([]);
  });

  it('are all read after the setting was lowered', async () => {
    const first = await open(12);
    await deleteMany(first);
    expect((await dueIn(first.target)).filter(isAdded)).not.toEqual([]);
    await settle(openProcess(first.target, { clock: first.clock }));
    expect(await states(first.target)).toEqual([]);
  });

  it('are read within a minute by a process with a lower setting, after the other one died', async () => {
    const lower = await open();
    const higher = openProcess(lower.target, { clock: lower.clock, dueShards: 12 });
    await higher.agents.prepare();
    await deleteMany(higher);
    await settle(lower);
    const left = await dueIn(lower.target);
    expect(left.length).toBeGreaterThan(0);
    expect(left.filter(one => !isAdded(one))).toEqual([]);
    await lower.clock.advance(minuteMs);
    await settle(lower);
    expect(await states(lower.target)).toEqual([]);
  });

  it('also hold summaries', async () => {
    const first = await open(12);
    for (let n = 0; n < 12; n++) await say(first, `c${n}`, `My number is ${n}.`, { user_id: 'ann' });
    await first.clock.advance(limits.quietMs + minuteMs);
    // A process that does nothing but note what is to be summarised.
    const { target, clock } = first;
    const isJob = ({ sk }: { sk?: unknown }) => sk === 'MEMORYJOB';
    const noting = openProcess(target, { clock, dueShards: 12, enterTenant: () => new Promise(() => {}) });
    void noting.agents.runDue();
    const jobs = async () => (await everyItem(target)).filter(isJob);
    await expect.poll(async () => (await jobs()).length).toBe(12);
    const numberOf = ({ due_pk }: { due_pk?: unknown }) => Number(String(due_pk).replace('DUEMEMORY#', ''));
    expect(Math.max(...(await jobs()).map(numberOf))).toBeGreaterThanOrEqual(limits.dueShards);
    await clock.advance(limits.memoryLeaseMs + minuteMs);
    await settle(openProcess(target, { clock }));
    expect(await jobs()).toEqual([]);
  });
});

describe('the stored number of shards', () => {
  it.each([1, 2, 3])('is the highest one, whatever fails (seed %i)', async seed => {
    const target = await targets.embedded();
    closers.push(target.close);
    await createTables(target.control, [conversationsTable]);
    const clock = manualClock();
    const random = seededRandom(seed);
    const client = createAdversary(target.client, { ...passingFaults, lostAnswers: 0.5, random });
    const restless = { now: clock.now, sleep: async () => {} }; // the store sleeps before it retries
    const store = createStore({ client, clock: restless, random });
    const log = createLogger({ level: 'silent' });
    const all = [12, 20, 5].map(dueShards => createConversationShards({ store, clock, log, dueShards }));
    for (let round = 0; round < 20; round++) {
      await Promise.all(all.map(one => one.refresh()));
      await clock.advance(minuteMs);
    }
    const stored = await createStore({ client: target.client, clock }).get(dueShardCount, {});
    expect([stored?.shards, ...all.map(one => one.all().length)]).toEqual([20, 20, 20, 20]);
  });
});
