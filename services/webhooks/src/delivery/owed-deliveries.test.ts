import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openDispatcher as open } from '../../test/dispatcher-fixture.ts';
import * as limits from '../limits.ts';

describe('a slot', () => {
  it('gives back a slot when the destination answers, while the result is written', async () => {
    const { dispatcher, of, know, reserve } = open();
    await know('a');
    reserve('a', 1)!.start();
    reserve('a', 1)!.start();
    expect(of('a')).toHaveLength(2);
    of('a')[1]!.answer({ concurrency: 1 });
    expect(of('a')).toHaveLength(3);
    let isStopped = false;
    const stopping = dispatcher.stop().then(() => {
      isStopped = true;
    });
    of('a')[2]!.end({ latencyMs: 1 });
    await setImmediate();
    expect(isStopped).toBe(false); // one result is not written
    of('a')[1]!.end();
    await stopping;
  });

  it('keeps the slot of a failed request until the result is written, and those of too many results', async () => {
    const { of, know, reserve } = open();
    await know('bad');
    reserve('bad', 1)!.start();
    reserve('bad', 1)!.start();
    of('bad')[1]!.answer({ concurrency: 1, isWell: false });
    expect(of('bad')).toHaveLength(2);
    await know('good');
    for (let i = 0; i < limits.unwrittenMost + 2; i++) {
      reserve('good', 1)!.start();
      of('good').at(-1)!.answer({ concurrency: 1 });
    }
    expect(of('good')).toHaveLength(limits.unwrittenMost + 2);
  });
});

describe('what is owed', () => {
  // Its answers are quick and wait long for this thread.
  const late = { latencyMs: 30, ownMs: 29, concurrency: 1 };

  it('is what waits for this process, and not for a destination', async () => {
    const { dispatcher, of, know, reserve } = open();
    for (const name of ['quick', 'slow']) {
      await know(name);
      for (let i = 0; i < 11; i++) reserve(name, 1)!.start();
      expect(dispatcher.owed()).toBe(0);
    }
    of('slow')[1]!.end({ latencyMs: 300, ownMs: 29, concurrency: 1 });
    await setImmediate();
    expect(dispatcher.owed()).toBe(0);
    of('quick')[1]!.answer(late);
    expect(dispatcher.owed()).toBe(10); // nine that wait, and a result
    of('quick')[1]!.end();
    await setImmediate();
    expect(dispatcher.owed()).toBe(9);
  });

  it('is nothing any more when the destination falls silent', async () => {
    const { dispatcher, of, know, reserve, watch, clock } = open();
    await know('a');
    for (let i = 0; i < 5; i++) reserve('a', 1)!.start();
    of('a')[1]!.end(late);
    await setImmediate();
    dispatcher.recount();
    expect(dispatcher.owed()).toBe(3);
    watch.lookedMs = clock.now() + limits.silentMs + 1; // nothing had arrived
    dispatcher.recount();
    expect(dispatcher.owed()).toBe(0);
    watch.lookedMs = clock.now();
    of('a')[2]!.end(late);
    await setImmediate();
    expect(dispatcher.owed()).toBe(2);
  });

  it('does not include retries and replays, nor results of slow and failed requests', async () => {
    const { dispatcher, offer, of, know, reserve, fewerOwed } = open();
    await know('a');
    for (let i = 0; i < 5; i++) offer('a');
    of('a')[1]!.answer(late);
    expect(dispatcher.owed()).toBe(0);
    const [before, answers] = [fewerOwed(), [{ latencyMs: limits.slowMs }, { isWell: false }]];
    for (const [i, answer] of answers.entries()) {
      await know(`b${i}`);
      reserve(`b${i}`, 1)!.start();
      of(`b${i}`)[1]!.answer(answer);
      expect(dispatcher.owed()).toBe(0);
      of(`b${i}`)[1]!.end();
    }
    await setImmediate();
    expect(fewerOwed()).toBeGreaterThan(before);
  });
});
