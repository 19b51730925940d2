import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from './command.ts';

// The pages are generated: `stak tables doc --to docs/designs`, and for the example with --from.
const root = join(import.meta.dirname, '../../..');
const example = join(root, 'packages/table/test/example-table.ts');
const folder = join(root, 'docs/designs');
async function stak(...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await runHere(...args);
  expect(code, stderr).toBe(0);
  return stdout;
}

describe('docs/designs', () => {
  it('matches the designs', async () => {
    await stak('tables', 'doc', '--to', folder, '--check');
    await stak('tables', 'doc', '--to', folder, '--check', '--from', example);
  });

  it('has no page for a removed table', async () => {
    const lists = [await stak('tables', 'list'), await stak('tables', 'list', '--from', example)];
    const tables = lists.flatMap(list => list.trim().split('\n').slice(1)).map(line => line.split(' ')[0]);
    const pages = (await readdir(folder)).map(file => file.replace(/\.md$/, ''));
    expect(pages.sort()).toEqual([...new Set(tables)].sort());
  });
});
