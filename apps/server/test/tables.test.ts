import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEngine, createHttpServer } from '@stak/engine';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { actions } from '../src/cli/store/tables-actions.ts';
import { measureDesign } from '../src/store/costs.ts';
import { designs } from '../src/store/designs.ts';
import { bin, type Finished, runHere } from './command.ts';

let folder: string;
let design: string;
let otherDesign: string;

const module = (
  sort: string,
) => `/* a design */ import { defineQuery, defineTable, entity } from '@stak/table';
/* and its schema */ import { z } from 'zod';
export const notes = defineTable({ name: 'notes', keys: { partition: 'pk', sort: '${sort}' }, ttl: 'ttl' });
export const note = entity(notes, {
  name: 'note',
  schema: z.object({ user: z.string(), id: z.string(), text: z.string() }),
  key: { partition: 'USER#{user}', sort: 'NOTE#{id}' },
  examples: [{ user: 'ann', id: '1', text: 'x'.repeat(3000) }],
});
export const ofUser = defineQuery('notes of a user', { of: note });
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-tables-'));
  // A design finds its packages from where it is; inside node_modules nobody else looks at it.
  const parent = fileURLToPath(new URL('../../../node_modules/.stak/', import.meta.url));
  await mkdir(parent, { recursive: true });
  design = join(parent, `design-${process.pid}.mts`);
  otherDesign = join(parent, `other-design-${process.pid}.mts`);
  await writeFile(design, module('sk'));
  await writeFile(otherDesign, module('other'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await rm(design, { force: true });
  await rm(otherDesign, { force: true });
});

const stak = (...args: string[]) => runHere('tables', ...args);

const stakAsProcess = (...args: string[]): Promise<Finished> =>
  new Promise(resolve => {
    execFile(process.execPath, [bin, 'tables', ...args], (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

test('creates tables in a folder once, and refuses one that differs from its design', async () => {
  const flags = ['--path', join(folder, 'data')];
  const first = await stakAsProcess('create', '--from', design, ...flags);
  expect(first.stdout).toBe('notes: create the table\nnotes: enable expiry by ttl\n');
  expect((await stak('create', '--from', design, ...flags)).stdout).toBe('notes: is as designed\n');
  expect(await stak('create', '--from', otherDesign, ...flags)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'stak: notes is not the table of its design: its key is pk, sk, designed as pk, other\n',
  });
});

test('tables of several installations coexist, and a missing prefix is reported', async () => {
  const path = join(folder, 'prefixed');
  const print = vi.spyOn(console, 'log').mockImplementation(() => {});
  onTestFinished(() => print.mockRestore());
  await actions.create({ path, prefix: 'dev-' });
  const engine = await createEngine({ path, sweepIntervalMs: 0 });
  const { TableNames } = (await engine.execute('ListTables', {})) as { TableNames: string[] };
  await engine.close();
  expect(TableNames.sort()).toEqual(designs.map(({ name }) => `dev-${name}`).sort());
  await actions.create({ path, prefix: 'dev-' });
  expect(print.mock.calls.at(-1)).toEqual(['stak-streams: is as designed']);
  for (const prefix of [undefined, 'prod-'])
    await expect(actions.create({ path, prefix })).rejects.toThrow(
      `there are no tables with the prefix "${prefix ?? ''}" here, but some with "dev-"; set STAK_TABLE_PREFIX to choose`,
    );
  await expect(actions.create({ path, prefix: 'a/b' })).rejects.toThrow("is no prefix of a table's name");
});

test('creates tables at an endpoint', async () => {
  const engine = await createEngine({ path: ':memory:' });
  const server = createHttpServer(engine, { port: 0 });
  const { url } = await server.listen();
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  onTestFinished(() => void vi.unstubAllEnvs());
  try {
    const { stdout } = await stak('create', '--from', design, '--endpoint', url);
    expect(stdout).toContain('notes: create the table');
    expect(await engine.execute('ListTables', {})).toEqual({ TableNames: ['notes'] });
  } finally {
    await server.close();
    await engine.close();
  }
});

test('lists designs with their cost', async () => {
  expect((await stak('list', '--from', design)).stdout).toMatch(/^notes +1 +0 +1 +ttl +–$/m);
  const { stdout } = await stak('cost', '--from', design);
  expect(stdout).toMatch(/^notes: put note +– +3\.0$/m);
  expect(stdout).toMatch(/^notes: notes of a user +0\.5 +–$/m);
});

test.each(designs.map(table => [table.name, table] as const))(
  'measures every entity of %s, with an example or without',
  async (_, table) => {
    const patterns = new Set((await measureDesign(table)).map(one => one.pattern));
    const measured = table.entities.filter(one => patterns.has(`put ${one.name}`));
    expect(measured.map(one => one.name)).toEqual(table.entities.map(one => one.name));
  },
);

test('writes pages, and reports outdated ones', async () => {
  const args = ['doc', '--from', design, '--to', folder];
  expect((await stak(...args, '--check')).stderr).toContain('out of date');
  await stak(...args);
  expect(await readFile(join(folder, 'notes.md'), 'utf8')).toContain('| put note |  | `pk = USER#{user}`');
  expect(await stak(...args, '--check')).toMatchObject({ code: 0, stderr: '' });
});

test('reports mistakes in one line', async () => {
  expect((await stak('drop')).stderr).toBe(
    'stak: stak tables knows list, create, doc, cost, not "drop"; see stak tables --help\n',
  );
  expect(
    (await stak('list', '--from', fileURLToPath(new URL('../src/process/signals.ts', import.meta.url))))
      .stderr,
  ).toContain('exports no table design');
  expect((await stak('list', '--from', join(folder, 'none.ts'))).stderr).toMatch(/^stak: cannot load .*\n$/);
});
