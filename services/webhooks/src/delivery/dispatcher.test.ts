import { setImmediate } from 'node:timers/promises';
import { createLogger, manualClock } from '@stak/kit';
import { describe, expect, it } from 'vitest';
import * as limits from '../limits.ts';
import type { Connection } from '../main-table.ts';
import type { Delivery } from '../tables.ts';
import type { Report } from './attempt.ts';
import { createDispatcher } from './dispatcher.ts';
import type { DeliveryRef } from './queue.ts';

type Attempt = { ref: DeliveryRef; onClaimed(): void; end(report?: Report): void };

function open({ claimsAtOnce = Number.POSITIVE_INFINITY } = {}) {
  const clock = manualClock(0);
  const begun: Attempt[] = [];
  const dispatcher = createDispatcher({
    clock,
    log: createLogger({ level: 'silent' }),
    attempt: async () => ({}),
    claimAndAttempt: (ref, _owner, _signal, onClaimed) =>
      new Promise(resolve => begun.push({ ref, onClaimed, end: (report = {}) => resolve(report) })),
    claimsAtOnce,
  });
  dispatcher.start({ owner: 'me', signal: new AbortController().signal, onRoom: () => {} });
  let count = 0;
  const offer = (connectionId: string) =>
    dispatcher.offer({ eventId: `evt_${count++}`, connectionId, run: 0 });
  const of = (connectionId: string) => begun.filter(one => one.ref.connectionId === connectionId);
  const end = async (one: Attempt, latencyMs: number, concurrency = 4) => {
    one.end({ latencyMs, concurrency });
    await setImmediate();
  };
  // The slot for a new delivery; undefined if there is none.
  const reserve = (connectionId: string, maxConcurrency: number) => {
    const connection = { connectionId, maxConcurrency, breaker: 'closed', ordered: false };
    const assignment = dispatcher.assign(connection as Connection);
    return assignment.how === 'leased' ? assignment : undefined;
  };
  return { clock, begun, dispatcher, offer, of, end, reserve };
}

describe('the dispatcher', () => {
  it('tries a new connection once, and then as often as it allows', async () => {
    const { offer, of, end } = open();
    for (let i = 0; i < 10; i++) offer('a');
    expect(of('a')).toHaveLength(1);
    await end(of('a')[0]!, 5);
    expect(of('a')).toHaveLength(5);
  });

  it('claims a few at a time, however many requests are in flight', async () => {
    const { offer, begun, end } = open({ claimsAtOnce: 2 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) offer(name);
    expect(begun).toHaveLength(2);
    begun[0]!.onClaimed();
    expect(begun).toHaveLength(3);
    await end(begun[0]!, 5); // it was claimed before
    expect(begun).toHaveLength(3);
    await end(begun[1]!, 5); // it could not be claimed
    expect(begun).toHaveLength(4);
  });

  it('lets connections take turns', async () => {
    const { offer, of, end, begun } = open();
    for (let i = 0; i < 100; i++) offer('many');
    for (const name of ['b', 'c', 'd']) offer(name);
    expect(begun.map(one => one.ref.connectionId)).toEqual(['many', 'b', 'c', 'd']);
    for (const name of ['b', 'c', 'd']) expect(of(name)).toHaveLength(1);
    await end(of('many')[0]!, 1);
    expect(of('many')).toHaveLength(5);
  });

  it('does not let slow connections take the slots of quick ones', async () => {
    const { clock, offer, of, end } = open();
    offer('quick');
    await end(of('quick')[0]!, 2);
    for (let i = 0; i < 1000; i++) for (let n = 0; n < 3; n++) offer(`slow-${i}`);
    offer('quick');
    expect(of('quick')).toHaveLength(2); // among a thousand new ones that hang
    await end(of('quick')[1]!, 2);
    offer('late');
    await clock.advance(2 * limits.slowMs);
    expect(of('late')).toHaveLength(1); // a new one waits until the others are known to be slow
    for (let i = 0; i < 1000; i++) expect(of(`slow-${i}`)).toHaveLength(1);
  });

  it('keeps a bounded number in memory, and each delivery once', () => {
    const { dispatcher } = open();
    const ref = { eventId: 'evt_same', connectionId: 'a', run: 0 };
    expect([
      dispatcher.offer(ref),
      dispatcher.offer({ ...ref }),
      dispatcher.offer({ ...ref, run: 1 }),
    ]).toEqual(['taken', 'known', 'taken']);
    let taken = 0;
    while (dispatcher.offer({ eventId: `evt_${taken}`, connectionId: 'a', run: 0 }) === 'taken') taken += 1;
    expect(dispatcher.waiting('a')).toBe(limits.readyPerConnection);
    expect(dispatcher.offer({ eventId: 'evt_x', connectionId: 'b', run: 0 })).toBe('taken');
  });

  it('leaves a connection alone for as long as a report says', async () => {
    const { clock, offer, of } = open();
    offer('a');
    offer('a');
    of('a')[0]!.end({ waitMs: 400, latencyMs: 1, concurrency: 4 });
    await clock.advance(399);
    expect(of('a')).toHaveLength(1);
    await clock.advance(1);
    expect(of('a')).toHaveLength(2);
  });

  it('comes back to each of several connections that it leaves alone', async () => {
    const { clock, offer, of } = open();
    for (const name of ['long', 'short', 'longest']) for (let i = 0; i < 2; i++) offer(name);
    for (const [name, waitMs] of [
      ['long', 900],
      ['short', 100],
      ['longest', 1500],
    ] as const)
      of(name)[0]!.end({ waitMs, latencyMs: 1, concurrency: 4 });
    await clock.advance(100);
    expect(['long', 'short', 'longest'].map(name => of(name).length)).toEqual([1, 2, 1]);
    await clock.advance(800);
    expect(['long', 'short', 'longest'].map(name => of(name).length)).toEqual([2, 2, 1]);
    await clock.advance(600);
    expect(of('longest')).toHaveLength(2);
  });

  it('starts nothing after it was stopped, and resolves when nothing is in flight', async () => {
    const { dispatcher, offer, of, reserve } = open();
    offer('a');
    offer('a');
    let isIdle = false;
    const idle = dispatcher.stop().then(() => {
      isIdle = true;
    });
    await setImmediate();
    expect(isIdle).toBe(false);
    of('a')[0]!.end();
    await idle;
    expect(of('a')).toHaveLength(1);
    expect(reserve('b', 5)).toBeUndefined();
  });

  it('reserves a slot for a delivery that is written first, and releases it', async () => {
    const { dispatcher, offer, of, end, reserve } = open();
    const reserved = reserve('a', 2);
    expect(reserve('a', 2)).toBeUndefined(); // a new connection
    offer('a');
    expect(of('a')).toHaveLength(0);
    reserved!.cancel();
    expect(of('a')).toHaveLength(1);
    await end(of('a')[0]!, 1, 2);
    const taken = [reserve('a', 2), reserve('a', 2), reserve('a', 2)];
    expect(taken.map(one => one !== undefined)).toEqual([true, true, false]);

    let isIdle = false;
    const idle = dispatcher.stop().then(() => {
      isIdle = true;
    });
    // A slot that was reserved before is still used.
    const delivery = { eventId: 'evt_r', connectionId: 'a', run: 0 } as Delivery;
    taken[0]!.start(delivery, { method: 'POST', headers: [], query: '', body: new Uint8Array() });
    await setImmediate();
    expect(isIdle).toBe(false);
    taken[1]!.cancel();
    await idle;
  });
});
