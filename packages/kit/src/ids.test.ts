import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIds, timeOf } from './ids.ts';
import { manualClock } from './manual-clock.ts';
import { seededRandom } from './random.ts';

const lastMs = 36 ** 9 - 1_000_000;
const anyTime = fc.integer({ min: 0, max: lastMs });

describe('createIds', () => {
  it('sorts as text in the order of creation, whatever the clock does', () => {
    const steps = fc.array(fc.tuple(anyTime, fc.integer({ min: 1, max: 40 })), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(steps, fc.integer(), (times, seed) => {
        const clock = manualClock(0);
        const ids = createIds({ clock, random: seededRandom(seed) });
        const made: string[] = [];
        for (const [nowMs, count] of times) {
          clock.set(nowMs);
          for (let i = 0; i < count; i++) made.push(ids.next());
        }
        for (let i = 1; i < made.length; i++) expect(made[i]! > made[i - 1]!).toBe(true);
      }),
    );
  });

  it('begins where another id is, in the order of those', () => {
    const clock = manualClock(5_000);
    const names = createIds({ clock, random: seededRandom(1) });
    const made = Array.from({ length: 40 }, (_, seed) => {
      const from = names.next('own');
      return createIds({ clock: { now: () => timeOf(from)! }, random: seededRandom(seed), from }).next();
    });
    expect([...made].sort()).toEqual(made);
    const ids = createIds({ clock, random: seededRandom(1), from: names.next('own') });
    const two = [ids.next(), ids.next('evt').slice('evt_'.length)];
    expect([...two].sort()).toEqual(two);
    expect(two.every(id => id > made.at(-1)!)).toBe(true);
  });

  it('contains its time, with and without a prefix', () => {
    fc.assert(
      fc.property(anyTime, fc.stringMatching(/^[a-z][a-z0-9]{0,7}$/), (nowMs, prefix) => {
        const ids = createIds({ clock: manualClock(nowMs) });
        expect(timeOf(ids.next())).toBe(nowMs);
        const id = createIds({ clock: manualClock(nowMs) }).next(prefix);
        expect(id.startsWith(`${prefix}_`)).toBe(true);
        expect(timeOf(id)).toBe(nowMs);
      }),
    );
  });

  it('sorts across processes by millisecond', () => {
    fc.assert(
      fc.property(anyTime, anyTime, fc.integer(), fc.integer(), (a, b, seedA, seedB) => {
        const first = createIds({ clock: manualClock(a), random: seededRandom(seedA) }).next();
        const second = createIds({ clock: manualClock(b), random: seededRandom(seedB) }).next();
        if (a !== b) expect(first < second).toBe(a < b);
      }),
    );
  });

  it('borrows from the next millisecond when one is used up', () => {
    const ids = createIds({ clock: manualClock(7), random: () => 0.999999 });
    const made = Array.from({ length: 36 ** 2 * 2 + 1 }, () => ids.next());
    expect(made.toSorted()).toEqual(made);
    expect(made.map(timeOf).filter(time => time === 7)).toHaveLength(36 ** 2);
    expect(timeOf(made.at(-1)!)).toBe(9);
    expect(new Set(made.map(id => id.length))).toEqual(new Set([24]));
  });

  it('keeps processes of the same millisecond apart', () => {
    const clock = manualClock();
    const processes = Array.from({ length: 2000 }, () => createIds({ clock }));
    expect(new Set(processes.map(ids => ids.next())).size).toBe(2000);
  });

  it('uses every digit of the tail', () => {
    const ids = createIds({ clock: manualClock() });
    const tails = Array.from({ length: 3000 }, () => ids.next().slice(-13));
    for (let location = 0; location < 13; location++)
      expect(new Set(tails.map(tail => tail[location])).size).toBe(36);
  });

  it.each(['', 'Evt', 'e_v', '9e', 'é'])('refuses the prefix %j', prefix => {
    expect(() => createIds({ clock: manualClock() }).next(prefix)).toThrow(TypeError);
  });
});

describe('timeOf', () => {
  it.each([
    '',
    'evt_',
    'x'.repeat(23),
    'x'.repeat(25),
    'X'.repeat(24),
    `Evt_${'0'.repeat(24)}`,
    `_${'0'.repeat(24)}`,
  ])('finds no time in %j', text => {
    expect(timeOf(text)).toBeUndefined();
  });
});
