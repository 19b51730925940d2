import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createEngine, createHttpServer } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { createConsumer, engineSource, type Subscription, streamsTable } from '@stak/streams';
import { createTables, defineTable } from '@stak/table';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { actions } from '../src/cli/store/streams-actions.ts';

const bin = fileURLToPath(new URL('../bin/stak.mjs', import.meta.url));
const events = defineTable({ name: 'events', keys: { partition: 'pk' }, stream: 'NEW_AND_OLD_IMAGES' });
let folder: string;

// In this process: starting the command takes longer than anything it does here.
async function streams(action: keyof typeof actions, consumer?: string, more: object = {}): Promise<string> {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await actions[action]({ path: folder, ...more }, consumer);
    return printed.mock.calls.map(([line]) => line).join('\n');
  } finally {
    printed.mockRestore();
  }
}

// Runs a consumer in the folder until it has handled or set aside what there is.
async function consume(handleOther: () => void, isDone: (deadLetters: number, redriven: number) => boolean) {
  const engine = await createEngine({ path: folder, sweepIntervalMs: 0 });
  await createTables(engine, [events, streamsTable]);
  await engine.client.put({ TableName: 'events', Item: { pk: 'a' } });
  const subscription: Subscription = { name: 'watch', table: events, entities: [], attempts: 1, handleOther };
  const consumer = createConsumer({
    subscription,
    source: engineSource(engine),
    client: engine.client,
    log: createLogger({ level: 'silent' }),
  });
  const stopping = new AbortController();
  const ended = consumer.run(stopping.signal);
  for (;;) {
    const { deadLetters, redriven } = consumer.counters();
    if (isDone(deadLetters, redriven)) break;
    await setImmediate();
  }
  stopping.abort();
  await ended;
  await engine.close();
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-streams-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('does not create a store in a folder without one', async () => {
  const other = await mkdtemp(join(tmpdir(), 'stak-streams-'));
  await expect(streams('status', undefined, { path: other })).rejects.toThrow(/there is no store in/);
  expect(await readdir(other)).toEqual([]);
  await rm(other, { recursive: true });
});

test('status, letters and redrive', async () => {
  await (await createEngine({ path: folder })).close();
  await expect(streams('status')).rejects.toThrow(/no consumer has ever run/);
  const fail = () => {
    throw new Error('indigestible');
  };
  await consume(fail, deadLetters => deadLetters === 1);
  expect(await streams('status')).toMatch(
    /^watch follows events: 0 processes, 1 dead letter\n {2}shardId-\S+: unowned, at \d+, /,
  );
  expect(JSON.parse(await streams('status', 'watch', { json: true }))).toMatchObject([
    { consumer: 'watch', deadLetters: 1, redriving: false },
  ]);
  expect(JSON.parse(await streams('letters', 'watch'))).toMatchObject({
    attempts: 1,
    error: expect.stringContaining('indigestible'),
  });
  expect(await streams('redrive', 'watch')).toBe('watch handles 1 dead letter again when it runs again.');
  await consume(
    () => {},
    (_, redriven) => redriven === 1,
  );
  expect(await streams('redrive', 'watch')).toBe('watch has no dead letters.');
});

test("works through the engine's HTTP server", async () => {
  const engine = await createEngine({ path: folder, sweepIntervalMs: 0 });
  const server = createHttpServer(engine, { port: 0 });
  const { url: endpoint } = await server.listen();
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  expect(await streams('status', undefined, { path: undefined, endpoint })).toMatch(/^watch follows events/);
  vi.unstubAllEnvs();
  await server.close();
  await engine.close();
});

test('reports mistakes', async () => {
  await expect(streams('redrive')).rejects.toThrow(/which consumer/);
  await expect(streams('redrive', 'nobody')).rejects.toThrow(/no consumer nobody has ever run/);
  await expect(streams('status', undefined, { path: join(folder, 'none') })).rejects.toThrow(
    /there is no folder .*--path/,
  );
  await expect(streams('status', undefined, { region: 'x' })).rejects.toThrow(/choose either/);
});

test('is registered as a command', async () => {
  const run = promisify(execFile)(process.execPath, [bin, 'streams', 'dance', '--path', folder]);
  await expect(run).rejects.toMatchObject({
    stderr: expect.stringMatching(/^stak: .*knows status, letters/),
  });
});
