import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const load = (path: string) => import(pathToFileURL(join(import.meta.dirname, '..', path)).href);
const { tableTitle } = (await load('apps/console/src/text/table-title.ts')) as {
  tableTitle(table: string): string;
};
const { designs } = (await load('apps/server/src/store/designs.ts')) as {
  designs: readonly { name: string }[];
};

test('the console has a title of its own for every table, with a prefix, too', () => {
  const titles = designs.map(({ name }) => tableTitle(name));
  expect(new Set(titles).size).toBe(designs.length);
  expect(titles).not.toContain('Other data');
  expect(tableTitle('prod-ferryhook-main')).toBe(tableTitle('ferryhook-main'));
});
