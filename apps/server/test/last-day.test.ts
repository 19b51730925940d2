import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type Engine } from '@stak/engine';
import { createLogger, superviseWorkers, systemClock } from '@stak/kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createScrubHost } from '../src/store/scrub/scrub-host.ts';
import { stakWith } from './command.ts';

// A store keeps its last day by itself, without a backup.

let root: string;
let data: string;
let at: string; // after the first put, before the second
const never = new AbortController().signal;

const open = (path: string) => createEngine({ path, sweepIntervalMs: 0 });
const textOf = async (engine: Engine) =>
  (await engine.client.get({ TableName: 'notes', Key: { id: 'one' } })).Item?.text;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'stak-last-day-'));
  data = join(root, 'data');
  let now = Date.now() - 60_000;
  const engine = await createEngine({ path: data, sweepIntervalMs: 0, clock: { now: () => now } });
  await engine.history!.maintain(never);
  await engine.execute('CreateTable', {
    TableName: 'notes',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  });
  const put = (text: string) => engine.client.put({ TableName: 'notes', Item: { id: 'one', text } });
  await put('the first text');
  at = new Date(now).toISOString();
  now += 30_000;
  await put('another text');
  await engine.close();
  await writeFile(join(data, 'secret-key'), 'k1:secret');
});
afterEach(() => rm(root, { recursive: true }));

it('stak restore goes back to any moment of the last day of a data folder', async () => {
  const { code, stdout } = await stakWith({}, 'restore', '--from', data, '--to-time', at);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`${data}-restored`) });
  const restored = await open(`${data}-restored`);
  expect(await textOf(restored)).toBe('the first text');
  await restored.close();
  expect(await readdir(`${data}-restored`)).toContain('secret-key');
  const early = await stakWith(
    {},
    'restore',
    '--from',
    data,
    '--to-time',
    '2001-01-01T00:00:00Z',
    '--path',
    root,
  );
  expect(early.code).toBe(1);
  const before = await stakWith(
    {},
    ...['restore', '--from', data, '--to-time', '2001-01-01T00:00:00Z', '--path', join(root, 'early')],
  );
  expect(before).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the history of this store begins at'),
  });
}, 60_000);

function damage(text: string): void {
  const file = join(data, 'stak.mdb');
  const bytes = readFileSync(file);
  for (let from = bytes.indexOf(text); from >= 0; from = bytes.indexOf(text, from + 1)) bytes[from]! ^= 1;
  writeFileSync(file, bytes);
}

it('stak dynamodb check --repair gets back what is damaged', async () => {
  damage('another text');
  const check = await stakWith({}, 'dynamodb', 'check', '--path', data);
  expect(check.code).toBe(1);
  const repair = await stakWith({}, 'dynamodb', 'check', '--path', data, '--repair');
  expect(repair).toMatchObject({ code: 0 });
  expect(JSON.parse(repair.stdout)).toMatchObject({
    problemCount: 0,
    repaired: [expect.stringContaining('key ')],
  });
  const whole = readFileSync(join(data, 'stak.mdb'));
  writeFileSync(join(data, 'stak.mdb'), whole.fill(0, 2 * 8192));
  const rebuilt = await stakWith({}, 'dynamodb', 'check', '--path', data, '--repair');
  expect(rebuilt.code).toBe(0);
  expect(await readdir(data)).toContain('stak.mdb.damaged');
  const engine = await open(data);
  expect(await textOf(engine)).toBe('another text');
  await engine.close();
}, 60_000);

it('a server verifies its store in a thread, names what is damaged and is degraded', async () => {
  damage('another text');
  const lines: string[] = [];
  const log = createLogger({ destination: { write: line => void lines.push(line) } });
  const engine = await open(data);
  const host = createScrubHost(
    { kind: 'embedded', path: data },
    {
      store: engine,
      clock: systemClock,
      log,
      timing: { firstMs: 0, everyMs: 60_000, bytesPerSecond: 1024 * 1024 * 1024 },
    },
  )!;
  expect(await host.check()).toBeUndefined();
  const workers = superviseWorkers([host.worker], { clock: systemClock, log });
  await expect
    .poll(() => lines.some(line => line.includes('the store was verified')), { timeout: 30_000 })
    .toBe(true);
  expect(lines.find(line => line.includes('the store is damaged'))).toContain('of the table notes');
  expect(await host.check()).toBe('degraded');
  await workers.stop();
  await engine.close();
}, 60_000);
