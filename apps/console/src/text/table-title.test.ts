import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tableTitle } from './table-title.ts';

// A page for each table of the server, and one for an example.
const designs = readdirSync(join(import.meta.dirname, '../../../../docs/designs'))
  .map(name => name.replace('.md', ''))
  .filter(name => !name.startsWith('example-'));

test('every table has a title of its own, with a prefix, too', () => {
  const titles = designs.map(tableTitle);
  expect(new Set(titles).size).toBe(designs.length);
  expect(titles).not.toContain('Other data');
  expect(tableTitle('prod-ferryhook-main')).toBe(tableTitle('ferryhook-main'));
});
