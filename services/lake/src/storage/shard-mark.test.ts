import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareSequences, isCaptured, type Mark, moveMark, singlesMost } from './shard-mark.ts';

test('a longer sequence number is greater', () => {
  expect(compareSequences('99', '100')).toBeLessThan(0);
  expect(compareSequences('101', '100')).toBeGreaterThan(0);
  expect(compareSequences('100', '100')).toBe(0);
});

// A shard's records as pages. Some pages come whole, some record by record in any order; any of them may come again.
const pages = fc.array(
  fc.record({
    size: fc.integer({ min: 1, max: 6 }),
    singly: fc.boolean(),
    order: fc.infiniteStream(fc.nat()),
    again: fc.boolean(),
  }),
  { maxLength: 12 },
);

test('every record is new once and known from then on', () => {
  fc.assert(
    fc.property(pages, script => {
      let mark: Mark | undefined;
      let next = 1;
      const seen = new Map<string, number>();
      const take = (sequences: string[]) => {
        const fresh = sequences.filter(sequence => !isCaptured(mark, sequence));
        for (const sequence of fresh) seen.set(sequence, (seen.get(sequence) ?? 0) + 1);
        if (fresh.length > 0)
          mark = moveMark(mark, { last: sequences.at(-1)!, isPage: sequences.length > 1 }, 0);
      };
      for (const { size, singly, order, again } of script) {
        const page = Array.from({ length: size }, () => String(next++));
        const shuffled = singly ? shuffle(page, order) : page;
        if (singly) for (const sequence of shuffled) take([sequence]);
        else take(page);
        if (again) take(page);
      }
      for (let sequence = 1; sequence < next; sequence++) expect(seen.get(String(sequence))).toBe(1);
    }),
  );
});

const shuffle = (page: string[], order: Iterable<number>): string[] => {
  const keys = order[Symbol.iterator]();
  return page
    .map(sequence => ({ sequence, key: keys.next().value as number }))
    .sort((a, b) => a.key - b.key)
    .map(({ sequence }) => sequence);
};

test('single records are remembered no longer than a page may be', () => {
  let mark: Mark | undefined;
  for (let i = 0; i < 2 * singlesMost; i++)
    mark = moveMark(mark, { last: String(1000 + i), isPage: false }, 0);
  expect(mark!.singles).toHaveLength(singlesMost);
  expect(isCaptured(mark, '1000')).toBe(true);
  expect(isCaptured(mark, String(1000 + 2 * singlesMost))).toBe(false);
});
