import { expect, test } from 'vitest';
import { addSample, ratesOf, type Sample } from './unit-samples.ts';

const sample = (at: number, read: number, write: number): Sample => ({ at: at * 1000, read, write });

test('units per second are the growth between two samples', () => {
  const seen = [sample(0, 100, 10), sample(5, 150, 10), sample(7, 151, 20)];
  const samples = seen.reduce<readonly Sample[]>(addSample, []);
  expect(ratesOf(samples)).toEqual([
    { at: 5000, read: 10, write: 0 },
    { at: 7000, read: 0.5, write: 5 },
  ]);
});

test('a repeated response counts once, and a restart begins again', () => {
  const seen = [sample(0, 100, 10), sample(0, 100, 10), sample(5, 120, 10)];
  const samples = seen.reduce<readonly Sample[]>(addSample, []);
  expect(samples).toHaveLength(2);
  expect(addSample(samples, sample(10, 3, 1))).toEqual([sample(10, 3, 1)]);
});

test('keeps minutes, not hours', () => {
  const samples = Array.from({ length: 500 }, (_, index) => sample(index, index, index));
  expect(samples.reduce<readonly Sample[]>(addSample, []).length).toBeLessThan(100);
});
