import { setImmediate } from 'node:timers/promises';
import { createLogger, manualClock } from '@stak/kit';
import { describe, expect, it } from 'vitest';
import type { AttemptRun, Report } from '../delivery/attempt.ts';
import { createDispatcher } from '../delivery/dispatcher.ts';
import { webhookErrors } from '../errors.ts';
import type { HookRequest } from '../filters/request-view.ts';
import * as limits from '../limits.ts';
import type { Connection } from '../main-table.ts';
import type { Delivery } from '../tables.ts';
import { createLoadLimiter } from './load-limiter.ts';

const request: HookRequest = { method: 'POST', headers: [], query: '', body: new Uint8Array() };

type Account = { name: string; callers: number; destinationMs: number; pauseMs?: number };
type Sent = { run: AttemptRun; sentMs: number; arrivedMs: number; end(report: Report): void };

const eventMs = 1; // to accept one
const resultMs = 1; // to handle an answer and write its result
const resultsAtOnce = 8;

// A thread that accepts and delivers, in iterations of an event loop that take as long as what is done in them. Its
// callers send again as soon as they are answered.
function openModel(accounts: readonly Account[], isAdmitting = true) {
  const clock = manualClock(0);
  const counts = accounts.map(() => ({ accepted: 0, delivered: 0, refused: 0, waitedMs: [] as number[] }));
  const latenciesMs: number[] = [];
  const iterations: (() => void)[] = [];
  let looked = { latestMs: 0, beforeMs: 0 };
  let sent: Sent[] = [];
  let written: (() => void)[] = [];
  const results: (() => void)[] = [];
  let next = 0;

  const begin = (delivery: Delivery, run: AttemptRun): Promise<Report> =>
    new Promise(resolve => {
      const account = accounts.findIndex(({ name }) => name === delivery.userId);
      latenciesMs.push(clock.now() - delivery.receivedAt);
      counts[account]!.delivered += 1;
      const arrivedMs = clock.now() + accounts[account]!.destinationMs;
      sent.push({ run, sentMs: clock.now(), arrivedMs, end: resolve });
    });
  const dispatcher = createDispatcher({
    clock,
    log: createLogger({ level: 'silent' }),
    attempt: (delivery, _connection, _request, run) => begin(delivery, run),
    attemptLeased: (delivery, _request, run) => begin(delivery, run),
    claimAndAttempt: async () => ({}),
    release: async () => {},
    claimsAtOnce: 16,
    answerWatch: { now: clock.now, mark: () => {}, lookedMs: () => looked.beforeMs },
    onFewerOwed: () => loadLimiter.grant(),
  });
  const { owed, recount } = dispatcher;
  const loadLimiter = createLoadLimiter({
    clock,
    owed,
    recount,
    limits: limits.owed.embedded,
    nextIteration: act => iterations.push(act),
  });
  dispatcher.start({ owner: 'me', signal: new AbortController().signal, onRoom: () => {} });

  const accept = (account: number) =>
    new Promise<void>(resolve => {
      const userId = accounts[account]!.name;
      const connection = {
        connectionId: `conn_${userId}`,
        userId,
        maxConcurrency: limits.concurrency,
        breaker: 'closed',
        ordered: false,
      } as Connection;
      const assignment = dispatcher.assign(connection, request);
      const { connectionId } = connection;
      written.push(() => {
        const receivedAt = clock.now();
        const delivery = { eventId: `evt_${next++}`, connectionId, userId, run: 0, receivedAt } as Delivery;
        if (assignment.how === 'leased') assignment.start(delivery, request);
        counts[account]!.accepted += 1;
        resolve();
      });
    });
  const call = async (account: number, isOver: () => boolean) => {
    const { name, pauseMs = 0 } = accounts[account]!;
    const count = counts[account]!;
    while (!isOver()) {
      const beganMs = clock.now();
      try {
        if (isAdmitting) await loadLimiter.enter(name, 0);
        count.waitedMs.push(clock.now() - beganMs);
        await accept(account);
        if (pauseMs > 0) await clock.sleep(pauseMs);
      } catch (error) {
        expect(error).toMatchObject({ code: 'webhooks.rate_limited', details: { retryAfterS: 2 } });
        count.refused += 1;
        await clock.sleep(2000);
      }
    }
  };

  return {
    counts,
    owed,
    latencyMs: (share: number) =>
      latenciesMs.toSorted((a, b) => a - b)[Math.floor(latenciesMs.length * share)]!,
    async run(durationMs: number) {
      const isOver = () => clock.now() >= durationMs;
      for (const [account, { callers }] of accounts.entries())
        for (let i = 0; i < callers; i++) void call(account, isOver);
      while (!isOver()) {
        const arrived = sent.filter(({ arrivedMs }) => arrivedMs <= clock.now());
        sent = sent.filter(one => !arrived.includes(one));
        looked = { latestMs: clock.now(), beforeMs: looked.latestMs };
        for (const { run, sentMs, end } of arrived) {
          const latencyMs = clock.now() - sentMs;
          const ownMs = clock.now() - Math.max(sentMs, looked.beforeMs);
          run.onAnswer({ latencyMs, ownMs, userId: '', concurrency: limits.concurrency, isWell: true });
          results.push(() => end({}));
        }
        const done = results.splice(0, resultsAtOnce);
        for (const end of done) end();
        const stored = written;
        written = [];
        for (const end of stored) end();
        await setImmediate();
        await clock.advance(Math.max(1, stored.length * eventMs + done.length * resultMs));
        for (const act of iterations.splice(0)) act();
      }
    },
  };
}

describe('a process with more requests than it can deliver', () => {
  const busy = [{ name: 'a', callers: 100, destinationMs: 1 }];

  it('accepts events as fast as it delivers them, and delivers them soon', async () => {
    const model = openModel(busy);
    await model.run(30_000);
    const { accepted, delivered, refused } = model.counts[0]!;
    expect(accepted).toBeGreaterThan(10_000);
    expect(delivered / accepted).toBeGreaterThan(0.98);
    expect(model.latencyMs(0.99)).toBeLessThan(1000);
    expect(refused).toBe(0);
  });

  it('would fall behind otherwise', async () => {
    const model = openModel(busy, false);
    await model.run(5000);
    const { accepted, delivered } = model.counts[0]!;
    expect(delivered / accepted).toBeLessThan(0.9);
  });

  it('refuses what would have to wait too long, and still delivers what it accepts', async () => {
    const model = openModel([{ name: 'a', callers: 1500, destinationMs: 1 }]);
    await model.run(5000);
    const { accepted, delivered, refused, waitedMs } = model.counts[0]!;
    expect(refused).toBeGreaterThan(300);
    expect(accepted - delivered).toBeLessThan(limits.owed.embedded.most + 100);
    expect(Math.max(...waitedMs)).toBeLessThanOrEqual(limits.loadWaitMostMs);
    expect(model.owed()).toBeLessThan(limits.owed.embedded.most + 4 * limits.loadBatch);
  });

  it('does not delay an account with few events', async () => {
    const model = openModel([
      { name: 'flood', callers: 500, destinationMs: 1 },
      { name: 'few', callers: 1, destinationMs: 1, pauseMs: 100 },
    ]);
    await model.run(20_000);
    const { accepted, refused, waitedMs } = model.counts[1]!;
    expect(refused).toBe(0);
    expect(accepted).toBeGreaterThan(100);
    expect(waitedMs.toSorted((a, b) => a - b)[Math.floor(waitedMs.length * 0.95)]).toBeLessThan(100);
  });
});

it.each([200, 5000])('a destination that takes %i ms delays no request', async destinationMs => {
  const model = openModel([{ name: 'a', callers: 50, destinationMs }]);
  await model.run(10_000);
  const { accepted, delivered, waitedMs } = model.counts[0]!;
  expect(accepted).toBeGreaterThan(5000);
  expect(delivered).toBeLessThan(accepted / 2);
  expect(Math.max(...waitedMs)).toBeLessThan(100); // for the next iteration of the event loop
});

function open(delayed = 2, most = 4) {
  const clock = manualClock(0);
  const iterations: (() => void)[] = [];
  const state = { owed: 0, recounts: 0 };
  const loadLimiter = createLoadLimiter({
    clock,
    owed: () => state.owed,
    recount: () => {
      state.recounts += 1;
    },
    limits: { delayed, most },
    nextIteration: act => iterations.push(act),
  });
  const outcomes: string[] = [];
  const enter = (account: string, kind?: 'emit', bytes = 0) => {
    const entered = async () => loadLimiter.enter(account, bytes, kind);
    void entered().then(
      () => outcomes.push(account),
      error => outcomes.push(webhookErrors.includes(error) ? `${account} refused` : String(error)),
    );
  };
  const iterate = async () => {
    for (const act of iterations.splice(0)) act();
    await setImmediate();
  };
  return { clock, state, loadLimiter, outcomes, enter, iterate };
}

describe('the load limiter', () => {
  it('lets a few requests continue in each iteration of the event loop', async () => {
    const { enter, outcomes, iterate } = open();
    for (let i = 0; i < 2 * limits.loadBatch + 1; i++) enter('a');
    await setImmediate();
    expect(outcomes).toHaveLength(limits.loadBatch);
    await iterate();
    expect(outcomes).toHaveLength(2 * limits.loadBatch);
    await iterate();
    expect(outcomes).toHaveLength(2 * limits.loadBatch + 1);
  });

  it('alternates between accounts', async () => {
    const { enter, outcomes, state, loadLimiter } = open();
    state.owed = 2;
    for (const account of ['a', 'a', 'a', 'b', 'c', 'b']) enter(account);
    await setImmediate();
    state.owed = 1;
    loadLimiter.grant();
    await setImmediate();
    expect(outcomes).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('accepts more after a while, and then refuses', async () => {
    const { clock, enter, outcomes, state } = open();
    state.owed = 3;
    enter('a');
    await clock.advance(limits.loadWaitMs - 1);
    expect(outcomes).toEqual([]);
    await clock.advance(1);
    expect(outcomes).toEqual(['a']);
    state.owed = 4;
    enter('b');
    await clock.advance(limits.loadWaitMs);
    expect(outcomes).toEqual(['a', 'b refused']);
  });

  it('never refuses an event of Stak itself', async () => {
    const { clock, enter, outcomes, state } = open();
    state.owed = 4;
    enter('a', 'emit');
    await clock.advance(limits.loadWaitMs - 1);
    expect(outcomes).toEqual([]);
    await clock.advance(1);
    expect(outcomes).toEqual(['a']);
  });

  it('refuses the newest request of the account with the most, if too many wait', async () => {
    const { enter, outcomes, state } = open();
    state.owed = 2;
    for (let i = 0; i < limits.loadWaiting; i++) enter('many');
    enter('few');
    await setImmediate();
    expect(outcomes).toEqual(['many refused']);
    enter('many');
    await setImmediate();
    expect(outcomes).toEqual(['many refused', 'many refused']);
  });

  it('keeps a bounded number of bytes', async () => {
    const { enter, outcomes, state } = open();
    state.owed = 2;
    for (let i = 0; i <= limits.loadWaitingBytes / limits.bodyBytes; i++)
      enter('a', undefined, limits.bodyBytes);
    await setImmediate();
    expect(outcomes).toEqual(['a refused']);
  });

  it('counts again while requests wait: a destination may have fallen silent', async () => {
    const { clock, enter, outcomes, state } = open();
    state.owed = 2;
    enter('a');
    await clock.advance(limits.loadCheckMs);
    expect([state.recounts, outcomes]).toEqual([1, []]);
    state.owed = 0;
    await clock.advance(limits.loadCheckMs);
    expect([state.recounts, outcomes]).toEqual([2, ['a']]);
    await clock.advance(limits.loadWaitMs);
    expect(state.recounts).toBe(2);
  });

  it('lets jobs wait for requests, but not for ever', async () => {
    const { clock, loadLimiter, outcomes, state, enter } = open(4, 8);
    const run = async () => {
      await loadLimiter.yieldToRequests();
      outcomes.push('job');
    };
    await run();
    state.owed = 4;
    enter('a');
    void run();
    state.owed = 3;
    loadLimiter.grant();
    await setImmediate();
    expect(outcomes).toEqual(['job', 'a']);
    state.owed = 1;
    loadLimiter.grant();
    await setImmediate();
    expect(outcomes).toEqual(['job', 'a', 'job']);
    state.owed = 4;
    void run();
    await clock.advance(limits.jobYieldMs);
    expect(outcomes).toEqual(['job', 'a', 'job', 'job']);
  });
});
