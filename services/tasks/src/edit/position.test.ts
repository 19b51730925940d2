import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstPosition, newPosition, positionBetween } from './position.ts';

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

  it('of ids that other programs gave are the times of creation', () => {
    expect(firstPosition('tsk_0mjuxvy9s00b8f0k3x1q2w4e', 9)).toBe('0mjuxvy9s00b8f0k3x1q2w4e');
    expect(firstPosition('other', 0)).toBe('000000001');
    expect(firstPosition('other', 1_700_000_000)).toBe('0loyw3v28');
    expect(firstPosition('other', 1)).toBe('0000000rs');
  });

  it('of a new task is its own, or else behind the task that was moved to the bottom', () => {
    expect(newPosition('other', 1, undefined)).toBe('0000000rs');
    expect(newPosition('other', 1, '0000000rr')).toBe('0000000rs');
    expect(newPosition('other', 1, '0000000rs')).toBe('0000001jk');
    expect(newPosition('other', 1, '0000000rt')).toBe('0000001jl');
  });

  it('are in the middle, or above what a neighbour goes on with', () => {
    expect(positionBetween('a', 'c')).toBe('b');
    expect(positionBetween('a', 'e')).toBe('c');
    expect(positionBetween('a', 'f')).toBe('c');
    expect(positionBetween('a', 'b')).toBe('ai');
    expect(positionBetween('ax', 'b')).toBe('az');
    expect(positionBetween('ay', 'b')).toBe('az');
    expect(positionBetween('az', 'b')).toBe('azi');
    expect(positionBetween('a0', 'b')).toBe('ai');
    expect(positionBetween('a1', 'b')).toBe('aj');
    expect(positionBetween('', '2')).toBe('1');
  });

  it('at the ends are a second away, as long as there is one', () => {
    expect(positionBetween(undefined, undefined)).toBe('i');
    expect(positionBetween(undefined, '0000000rt')).toBe('000000001');
    expect(positionBetween(undefined, '0000000rs')).toBe('0000000d');
    expect(positionBetween('zzzzzzzzz', undefined)).toBe('zzzzzzzzzi');
  });
});
