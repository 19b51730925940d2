import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SignedIn, signIn } from './signed-in.ts';

let me: SignedIn;
beforeAll(async () => {
  me = await signIn();
}, 60_000);
afterAll(() => me.close());

test('prints SQL results as a table, with one cell per value', async () => {
  const sql = `select 'pending' as status, chr(27) || '[31mred' || chr(10) || 'x' as title, [chr(7)] as labels`;
  const file = join(await mkdtemp(join(tmpdir(), 'stak-lake-')), 'x.csv');
  const [lines, refused, status, written] = await Promise.all([
    me.run('lake', 'query', sql),
    me.fail('lake', 'query', 'drop table tasks'),
    me.run('lake', 'status'),
    me.run('lake', 'query', 'select $a as a, $b as b', '--param', 'a=1', '--param', 'b=x y', '--to', file),
  ]);
  expect(written).toContain(`bytes in ${file}`);
  expect(await readFile(file, 'utf8')).toBe('a,b\n1,x y\n');
  await rm(dirname(file), { recursive: true });
  expect(lines.split('\n')).toEqual([
    expect.stringMatching(/^status +title +labels$/),
    expect.stringMatching(/^pending +\\u\{1b\}\[31mred\\u\{a\}x +\["\\u0007"\]$/),
  ]);
  expect(refused).toContain('lake.sql_forbidden');
  expect(status).toMatch(/^table +last commit +behind\n/);
}, 120_000);
