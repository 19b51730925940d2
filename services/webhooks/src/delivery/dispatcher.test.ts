import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { large, openDispatcher, request } from '../../test/dispatcher-fixture.ts';
import type { HookRequest } from '../filters/request-view.ts';
import * as limits from '../limits.ts';

describe('the dispatcher', () => {
  it('attempts a new connection once, and then as often as it allows', async () => {
    const { offer, of, end } = openDispatcher();
    for (let i = 0; i < 10; i++) offer('a');
    expect(of('a')).toHaveLength(1);
    await end(of('a')[0]!, 5);
    expect(of('a')).toHaveLength(5);
  });

  it('claims a few at a time, however many requests are in flight', async () => {
    const { offer, begun, end } = openDispatcher({ claimsAtOnce: 2 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) offer(name);
    expect(begun).toHaveLength(2);
    begun[0]!.onClaimed();
    expect(begun).toHaveLength(3);
    await end(begun[0]!, 5); // it was claimed before
    expect(begun).toHaveLength(3);
    await end(begun[1]!, 5); // it could not be claimed
    expect(begun).toHaveLength(4);
  });

  it('alternates between connections', async () => {
    const { offer, of, end, begun } = openDispatcher();
    for (let i = 0; i < 100; i++) offer('many');
    for (const name of ['b', 'c', 'd']) offer(name);
    expect(begun.map(one => one.ref.connectionId)).toEqual(['many', 'b', 'c', 'd']);
    for (const name of ['b', 'c', 'd']) expect(of(name)).toHaveLength(1);
    await end(of('many')[0]!, 1);
    expect(of('many')).toHaveLength(5);
  });

  it('lets the backlog of a quick connection delay new and slow ones by a few claims', async () => {
    const { begun, of, know, offer } = openDispatcher({ claimsAtOnce: 1 });
    await know('slow', 2 * limits.slowMs);
    await know('quick', 1, 1000);
    for (let i = 0; i < 100; i++) offer('quick');
    for (const name of ['fresh', 'slow']) offer(name);
    for (let i = 0; i < 8; i++) begun.at(-1)!.onClaimed();
    expect(of('fresh')).toHaveLength(1);
    expect(of('slow')).toHaveLength(2);
    for (let i = 0; i < 8; i++) begun.at(-1)!.onClaimed();
    expect(of('quick').length).toBeGreaterThan(12);
  });

  it('keeps slots for new connections, however many requests of fast ones are in flight', async () => {
    const { of, know, offer } = openDispatcher();
    for (const name of ['a', 'b']) {
      await know(name, 1, 1000);
      for (let i = 0; i < limits.quickSlots; i++) offer(name);
    }
    offer('fresh');
    expect(of('fresh')).toHaveLength(1);
  });

  it('alternates between accounts, however many connections each has', async () => {
    const { begun, of, know, offer } = openDispatcher({ claimsAtOnce: 1 });
    const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
    for (const name of many) await know(name, 1, 100, 'usr_many');
    await know('one', 1, 100, 'usr_one');
    for (const name of [...many, 'one']) for (let i = 0; i < 20; i++) offer(name);
    for (let i = 0; i < 20; i++) begun.at(-1)!.onClaimed();
    expect(of('one').length).toBeGreaterThan(9);
    for (const name of many) expect(of(name).length).toBeGreaterThan(1); // its connections take turns, too
  });

  it('keeps the place of a connection that gets more while it waits', async () => {
    const { begun, of, know, offer } = openDispatcher({ claimsAtOnce: 1 });
    for (const name of ['a', 'b', 'c']) await know(name, 1, 100);
    for (const name of ['a', 'b', 'c']) for (let i = 0; i < 20; i++) offer(name);
    for (let i = 0; i < 10; i++) {
      offer('b');
      begun.at(-1)!.onClaimed();
    }
    expect(of('b').length).toBeGreaterThan(3);
  });

  it('does not let slow connections take the slots of quick ones', async () => {
    const { clock, offer, of, end } = openDispatcher();
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
    const { dispatcher } = openDispatcher();
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

  it('keeps room for the deliveries of a connection, however many of others wait', async () => {
    const { dispatcher, offer, of, end } = openDispatcher();
    for (let i = 0; dispatcher.waiting() < limits.readyMost; i++)
      while (dispatcher.waiting(`slow-${i}`) < limits.readyPerConnection && offer(`slow-${i}`) === 'taken');
    expect(offer('slow-0')).toBe('full');
    expect(offer('other')).toBe('taken');
    expect(of('other')).toHaveLength(1);
    for (let i = 0; i < limits.readyReserved; i++) expect(offer('other')).toBe('taken');
    expect(offer('other')).toBe('full');
    await end(of('other')[0]!, 1);
    expect(of('other')).toHaveLength(5);
    let taken = 0;
    for (let i = 0; offer(`more-${i}`) === 'taken'; i++) while (offer(`more-${i}`) === 'taken') taken += 1;
    expect(taken).toBeLessThan(limits.readyMost);
  });

  it('pauses a connection for as long as a report says', async () => {
    const { clock, offer, of } = openDispatcher();
    offer('a');
    offer('a');
    of('a')[0]!.end({ waitMs: 400 });
    await clock.advance(399);
    expect(of('a')).toHaveLength(1);
    await clock.advance(1);
    expect(of('a')).toHaveLength(2);
  });

  it('returns to each of several paused connections', async () => {
    const { clock, offer, of } = openDispatcher();
    for (const name of ['long', 'short', 'longest']) for (let i = 0; i < 2; i++) offer(name);
    for (const [name, waitMs] of [
      ['long', 900],
      ['short', 100],
      ['longest', 1500],
    ] as const)
      of(name)[0]!.end({ waitMs });
    await clock.advance(100);
    expect(['long', 'short', 'longest'].map(name => of(name).length)).toEqual([1, 2, 1]);
    await clock.advance(800);
    expect(['long', 'short', 'longest'].map(name => of(name).length)).toEqual([2, 2, 1]);
    await clock.advance(600);
    expect(of('longest')).toHaveLength(2);
  });

  it('starts nothing after it was stopped, and resolves when nothing is in flight', async () => {
    const { dispatcher, offer, of, reserve } = openDispatcher();
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
    const { offer, of, reserve } = openDispatcher();
    const reserved = reserve('a', 2);
    offer('a');
    expect(of('a')).toHaveLength(0); // a new connection
    reserved!.cancel();
    expect(of('a').map(one => one.how)).toEqual(['claimed']);
  });

  it('uses a slot that was reserved before it was stopped', async () => {
    const { dispatcher, of, reserve } = openDispatcher();
    const reserved = reserve('a', 1)!;
    let isIdle = false;
    const idle = dispatcher.stop().then(() => {
      isIdle = true;
    });
    reserved.start();
    await setImmediate();
    expect(isIdle).toBe(false);
    of('a')[0]!.end();
    await idle;
  });

  it('keeps a new delivery leased while it waits, in order, and attempts it without a claim', async () => {
    const { of, end, know, offer, reserve } = openDispatcher();
    await know('a');
    const first = reserve('a', 1)!.start();
    const second = reserve('a', 1)!.start();
    offer('a');
    const third = reserve('a', 1)!.start();
    for (let i = 1; i <= 4; i++) await end(of('a')[i]!, 1, 1);
    const [, ...later] = of('a');
    expect(later.map(one => one.how)).toEqual(['at once', 'leased', 'claimed', 'leased']);
    expect([0, 1, 3].map(i => later[i]!.ref.eventId)).toEqual([first, second, third]);
  });

  it('leases no more than it will attempt soon, and no more than memory allows', async () => {
    const { know, reserve } = openDispatcher();
    const leasedOf = (connectionId: string, received: HookRequest): number => {
      let leased = 0;
      for (let one = reserve(connectionId, 1, received); one && leased < 20_000; leased++) {
        one.start();
        one = reserve(connectionId, 1, received);
      }
      return leased;
    };
    await know('lazy', 400);
    expect(leasedOf('lazy', request)).toBe(1 + limits.leasedWaitMs / 400);
    await know('big');
    const most = limits.leasedBytesPerConnection / (limits.bodyBytes + limits.leasedOverheadBytes);
    expect(leasedOf('big', large)).toBe(1 + Math.floor(most));
    await know('many headers');
    const headers = [['x-long', 'x'.repeat(limits.headersBytes)]] as const;
    const mostOf = limits.leasedBytesPerConnection / limits.headersBytes;
    expect(leasedOf('many headers', { ...request, headers })).toBeLessThanOrEqual(1 + mostOf);
    for (const name of ['b', 'c', 'd', 'e']) {
      await know(name);
      leasedOf(name, large);
    }
    await know('last');
    expect(leasedOf('last', large)).toBe(1); // in the slot
  });

  it('puts new deliveries behind those that did not fit in memory', async () => {
    const { dispatcher, of, end, know, offer, reserve } = openDispatcher();
    await know('a');
    for (let i = 0; i <= limits.readyPerConnection; i++) offer('a');
    expect(offer('a')).toBe('full');
    expect(reserve('a', 1)).toBeUndefined();
    for (let i = 1; dispatcher.waiting('a') > 0; i++) await end(of('a')[i]!, 1, 1);
    expect(reserve('a', 1)).toBeDefined();
  });

  it('frees the memory of a delivery that was not written', async () => {
    const { know, reserve } = openDispatcher();
    await know('a');
    reserve('a', 1)!.start();
    for (let i = 0; i < 1000; i++) reserve('a', 1, large)!.cancel();
    expect(reserve('a', 1, large)).toBeDefined();
  });

  it('makes leased, waiting deliveries due when it is stopped', async () => {
    const { dispatcher, of, released, know, reserve } = openDispatcher();
    await know('a');
    reserve('a', 1)!.start();
    const waiting = [reserve('a', 1)!.start(), reserve('a', 1)!.start()];
    const late = reserve('a', 1)!;
    const stopped = dispatcher.stop();
    const written = late.start(); // after it was stopped
    of('a')[1]!.end();
    await stopped;
    expect(released.sort()).toEqual([...waiting, written].sort());
    expect(of('a')).toHaveLength(2);
  });

  it('lets leases expire if there is no time to release them', async () => {
    const { dispatcher, cutOff, of, released, know, reserve } = openDispatcher();
    await know('a');
    reserve('a', 1)!.start();
    for (let i = 0; i < 3; i++) reserve('a', 1)!.start();
    cutOff.abort();
    const stopped = dispatcher.stop();
    of('a')[1]!.end();
    await stopped;
    expect(released).toEqual([]);
  });
});
