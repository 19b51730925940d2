import { expect, test } from 'vitest';
import { tableTitle } from '../apps/console/src/text/table-title.ts';
import { designs } from '../apps/server/src/designs.ts';

test('the console has a title of its own for every table, with a prefix, too', () => {
  const titles = designs.map(({ name }) => tableTitle(name));
  expect(new Set(titles).size).toBe(designs.length);
  expect(titles).not.toContain('Other data');
  expect(tableTitle('prod-ferryhook-main')).toBe(tableTitle('ferryhook-main'));
});
