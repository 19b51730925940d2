import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstPosition, positionBetween } from './position.ts';

const indexes = fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 120 });
const ids = fc.array(fc.stringMatching(/^tsk_0m[0-9a-z]{22}$/), { minLength: 1, maxLength: 10 });

describe('positions', () => {
  it('always sort between their neighbours, wherever tasks are put', () => {
    fc.assert(
      fc.property(ids, indexes, (tasks, moves) => {
        const list = [...new Set(tasks)].map(id => firstPosition(id, 0)).sort();
        for (const move of moves) {
          const at = move % (list.length + 1);
          const [low, high] = [list[at - 1], list[at]];
          const made = positionBetween(low, high);
          expect(made).toBeDefined();
          expect(low === undefined || low < made!).toBe(true);
          expect(high === undefined || made! < high).toBe(true);
          list.splice(at, 0, made!);
        }
      }),
    );
  });

  it('stay short at both ends, and grow slowly inside', () => {
    let first = firstPosition('tsk_0mjuxvy9s00b8f0k3x1q2w4e', 0);
    let last = first;
    for (let i = 0; i < 10_000; i++) {
      first = positionBetween(undefined, first)!;
      last = positionBetween(last, undefined)!;
    }
    expect([first.length, last.length]).toEqual([9, 9]);
    let low = '0mjuxvy9s';
    for (let i = 0; i < 500; i++) low = positionBetween(low, '0mjuxvyzz')!;
    expect(low.length).toBeLessThan(120);
  });

  it('report when there is no room', () => {
    expect(positionBetween('a', 'a')).toBeUndefined();
    expect(positionBetween('b', 'a')).toBeUndefined();
    expect(positionBetween('a', 'a0')).toBeUndefined();
    expect(positionBetween(undefined, '000')).toBeUndefined();
  });
});
