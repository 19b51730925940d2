import fc from 'fast-check';
import { expect, it } from 'vitest';
import { delaysText, readDelays, usualDelaysS } from './retry-delays.ts';

it('parses what it formats', () => {
  expect(delaysText(usualDelaysS)).toBe('30s, 2m, 15m, 1h, 4h, 12h, 24h');
  expect(readDelays(' 30s,5m  1h ')).toEqual([30, 300, 3_600]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 86_400 }), { maxLength: 7 }), delays => {
      expect(readDelays(delaysText(delays))).toEqual(delays);
    }),
  );
});

it('reports the part that is not a duration', () => {
  expect(() => readDelays('30s, later')).toThrow('“later” is not a duration');
});
