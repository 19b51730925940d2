import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

// The pages are generated: `stak tables doc --to docs/designs`, and for the example with --from.
const root = join(import.meta.dirname, '..');
const example = 'packages/table/test/example-table.ts';
const stak = async (...args: string[]) =>
  (
    await promisify(execFile)(process.execPath, ['--import', 'tsx', 'apps/server/src/main.ts', ...args], {
      cwd: root,
    })
  ).stdout;

describe('docs/designs', () => {
  it('says what the designs say', async () => {
    await stak('tables', 'doc', '--to', 'docs/designs', '--check');
    await stak('tables', 'doc', '--to', 'docs/designs', '--check', '--from', example);
  });

  it('has no page of a table that is gone', async () => {
    const lists = await Promise.all([stak('tables', 'list'), stak('tables', 'list', '--from', example)]);
    const tables = lists.flatMap(list => list.trim().split('\n').slice(1)).map(line => line.split(' ')[0]);
    const pages = (await readdir(join(root, 'docs/designs'))).map(file => file.replace(/\.md$/, ''));
    expect(pages.sort()).toEqual([...new Set(tables)].sort());
  });
});
