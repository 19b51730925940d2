import { expect, it } from 'vitest';
import { slugOf } from './slug.ts';

it.each([
  ['Demo shop', 'demo-shop'],
  ['Große Straße', 'grosse-strasse'],
  ['Crème brûlée', 'creme-brulee'],
  ['Łódź & Ærø', 'lodz-aero'],
  ['  İstanbul!  ', 'istanbul'],
  ['ﬁne', 'fine'],
  ['???', ''],
  [`${'a'.repeat(39)} b`, 'a'.repeat(39)],
])('%s becomes %s', (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});
