import { expect, it } from 'vitest';
import * as limits from '../limits.ts';
import type { Task } from '../schema.ts';
import { createSearchIndex } from './search-index.ts';

const indexOf = (...titles: string[]) => {
  const index = createSearchIndex('epoch', 0);
  for (const [i, title] of titles.entries()) index.put({ task_id: `${i}`, title } as Task);
  return index;
};
const idsOf = async (titles: string[], query: string) =>
  (await indexOf(...titles).find(query)).map(one => one.task_id);

it('finds tasks with all the words, best first', async () => {
  const titles = ['milk', 'milk and much else that is to be bought, also honey', 'honey milk', 'honey'];
  expect(await idsOf(titles, 'milk, honey')).toEqual(['2', '1']);
  expect(await idsOf(titles, 'honey bread')).toEqual([]);
});

it.each(['', ' ', '-', '\u0301'])('finds nothing for %j', async query => {
  expect(await idsOf(['milk'], query)).toEqual([]);
});

it('ignores accents, repeated words and ligatures', async () => {
  expect(await idsOf(['Café ㈱'], 'cafe \u0301 CAFÉ ㈱')).toEqual(['0']);
});

it('limits the number of words, whatever separates them', async () => {
  const words = Array.from({ length: limits.searchTerms }, (_, i) => `word${String.fromCharCode(97 + i)}`);
  const title = words.join(' ');
  for (const between of [' ', '-', '/', '\u2003'])
    expect(await idsOf([title], [...words, 'nowhere'].join(between))).toEqual(['0']);
  expect(await idsOf([title], ['nowhere', ...words].join('-'))).toEqual([]);
});

it('yields between two words', async () => {
  const index = indexOf('milk and honey');
  const order: string[] = [];
  setImmediate(() => order.push('another'));
  await index.find('milk honey').then(() => order.push('found'));
  expect(order).toEqual(['another', 'found']);
});

it('yields while it expands a prefix, and limits the expansion', async () => {
  // Ten tasks have the same words: more occurrences than are looked up, of fewer words.
  const titles = Array.from({ length: 1_200 }, (_, task) =>
    Array.from({ length: 200 }, (_, i) => `a${Math.floor(task / 10) * 200 + i}`).join(' '),
  );
  const index = indexOf(...titles);
  let others = 0;
  let isOver = false;
  const work = () => {
    others += 1;
    if (!isOver) setImmediate(work);
  };
  setImmediate(work);
  const found = await index.find('a');
  isOver = true;
  const slices = limits.searchOccurrences / limits.searchOccurrencesTogether;
  expect(found).toHaveLength(limits.searchResults);
  expect(others).toBeGreaterThanOrEqual(slices - 1);
  expect(others).toBeLessThanOrEqual(slices + 2);
});

it.each([
  ['mlik', 'milk'],
  ['imlk', 'milk'],
  ['mikl', 'Milk'],
  ['cfaé', 'café'],
  ['adress', 'address'],
  ['ktichne', 'kitchen'], // two pairs
  ['kitchne', 'kitchens'], // a pair, and a letter that is missing
  ['😀😁mlik', '😀😁milk'],
])('finds for %s the intended word: %s', async (query, title) => {
  expect(await idsOf([title, 'something else'], query)).toEqual(['0']);
});

it('ranks the typed word before one with its letters transposed', async () => {
  expect(await idsOf(['from', 'form', 'formal', 'firm'], 'form')).toEqual(['1', '2', '0', '3']);
});

it('does not accept two mistakes in a short word, or any in a very short one', async () => {
  expect(await idsOf(['milk'], 'lmki')).toEqual([]);
  expect(await idsOf(['tea'], 'tae')).toEqual([]);
});
