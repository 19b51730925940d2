import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlainMessage } from '../state/message-format.ts';
import { findNewMessages } from './external-diff.ts';

const turn = (n: number): PlainMessage[] => [
  { role: 'user', content: `q${n}` },
  { role: 'assistant', content: `a${n}` },
];

describe('messages written by another program', () => {
  it('continue from whatever part of the conversation it had read', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.nat(11),
        fc.nat(24),
        fc.nat(4),
        (count, read, left, added) => {
          const known = Array.from({ length: count }, (_, n) => turn(n));
          const seen = known.slice(0, 1 + (read % count)).flat(); // it may not know the newest turns
          const kept = seen.slice(left % seen.length); // it may have left out the oldest messages
          const own = Array.from({ length: added }, (_, n) => turn(100 + n)).flat();
          expect(findNewMessages(known, [...kept, ...own])).toEqual({ kind: 'append', messages: own });
        },
      ),
    );
  });

  it('replace what they do not contain', () => {
    expect(findNewMessages([turn(1)], turn(2))).toEqual({ kind: 'replace', messages: turn(2) });
    expect(findNewMessages([turn(1)], [])).toEqual({ kind: 'replace', messages: [] });
    expect(findNewMessages([], turn(2))).toEqual({ kind: 'append', messages: turn(2) });
  });

  it('do not continue a turn just because they begin with the same question', () => {
    const again: PlainMessage[] = [turn(1)[0]!, { role: 'assistant', content: 'another answer' }];
    expect(findNewMessages([turn(1)], again)).toEqual({ kind: 'replace', messages: again });
  });
});
