import { seededRandom } from '@stak/kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { people } from './shop.ts';
import { type Beat, tellStory } from './story.ts';

const tell = (seed: number, beats: number): Beat[] => {
  const story = tellStory(seededRandom(seed), 1001);
  return Array.from({ length: beats }, () => story.next().value);
};
const seeds = fc.integer({ min: 1, max: 1_000_000 });

describe('the demo story', () => {
  it('is the same for the same seed, and differs for another', () => {
    expect(tell(7, 300)).toEqual(tell(7, 300));
    expect(tell(7, 300)).not.toEqual(tell(8, 300));
  });

  it('creates a task before it is started, and starts it before it is done', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const states = new Map<string, string>();
        for (const beat of tell(seed, 400)) {
          if (beat.kind === 'task') {
            expect(states.has(beat.task)).toBe(false);
            states.set(beat.task, 'new');
          }
          if (beat.kind !== 'progress') continue;
          expect(states.get(beat.task)).toBe(beat.status === 'in_progress' ? 'new' : 'in_progress');
          states.set(beat.task, beat.status);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('repairs what breaks, with failing orders in between', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const beats = tell(seed, 400);
        const kinds = beats.map(({ kind }) => kind);
        for (const [at, kind] of kinds.entries())
          if (kind === 'outage')
            expect(kinds.slice(at, at + 6)).toEqual(['outage', ...Array(4).fill('payment'), 'repair']);
        expect(kinds).toContain('outage');
      }),
      { numRuns: 30 },
    );
  });

  it('uses every service and includes everybody', () => {
    const beats = tell(1, 200);
    expect(new Set(beats.map(({ kind }) => kind)).size).toBe(10);
    const addressed = new Set(beats.flatMap(beat => (beat.kind === 'message' ? beat.to : [])));
    expect([...addressed].toSorted()).toEqual(people.map(one => one.user_id).toSorted());
  });
});
