import { execFile, execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { createAccounts, ferryhookMain, plans } from '@stak/accounts';
import { createEngine } from '@stak/engine';
import { createApi, createMemoryIdempotency, listen } from '@stak/http';
import { createIds, createLogger, createSealer, superviseWorkers, systemClock } from '@stak/kit';
import { createOutbound } from '@stak/outbound';
import { createCursors, createStore, createTables } from '@stak/table';
import { expect, it, onTestFinished } from 'vitest';
import { createWebhooks, ferryhookEvents } from '../src/index.ts';

const guide = new URL('../../../docs/guides/webhooks.md', import.meta.url);

function hasCurl(): boolean {
  try {
    execFileSync('bash', ['-c', 'curl --version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function serve(): Promise<string> {
  const clock = systemClock;
  const engine = await createEngine({ path: ':memory:' });
  await createTables(engine, [ferryhookMain, ferryhookEvents]);
  const cursors = createCursors();
  const log = createLogger({ level: 'silent' });
  const store = createStore({ client: engine.client, cursors });
  const sealer = createSealer({ keys: [{ id: 'test', secret: 'a secret for sealing, long enough' }] });
  const base = { store, clock, ids: createIds({ clock }), log, sealer };
  const outbound = createOutbound({ allow: ['127.0.0.0/8'] });
  const passwordCost = { logN: 10, r: 8, p: 1 };
  const accounts = createAccounts({ ...base, publicUrl: 'http://127.0.0.1', passwordCost });
  const webhooks = createWebhooks({
    ...base,
    cursors,
    outbound,
    planOf: async () => plans.free,
    usageOf: async userId => (await accounts.usage.read(userId)).usageThisMonth,
    countUsage: accounts.usage.add,
  });
  await accounts.prepare();
  const api = createApi({
    info: { title: 'Stak', version: '1' },
    endpoints: [...accounts.api, ...webhooks.api],
    errors: [accounts.errors, webhooks.errors],
    authenticate: accounts.authenticate,
    clock,
    log,
    idempotency: createMemoryIdempotency({ clock }),
  });
  const supervisor = superviseWorkers(webhooks.workers, { clock, log });
  const server = await listen(api, { port: 0, clock, log });
  onTestFinished(async () => {
    await server.close();
    await supervisor.stop();
    await webhooks.close();
    await outbound.close();
    await accounts.settle();
    await engine.close();
  });
  return `http://127.0.0.1:${server.port}`;
}

it.skipIf(!hasCurl())('the guide runs as it is written (needs bash and curl)', async () => {
  const text = await readFile(guide, 'utf8');
  const script = [...text.matchAll(/```sh\n(.*?)```/gs)].map(match => match[1]).join('\n');
  const STAK = await serve();
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    env: { ...process.env, STAK },
  });
  expect(stdout).toContain('"matched":false'); // the sample
  expect(stdout).toContain('"duplicate":true');
  expect(stdout).toContain('"status":"delivered"');
  expect(stdout).toContain('{"id":7,"status":"paid"}'); // the body, as it came
  expect(stdout).toContain('event: event'); // the live view
  expect(stdout).toContain('"action":"replay"');
  expect(stdout).toMatch(/^401$/m);
  expect(stdout).toMatch(/^404$/m); // nobody outside sends for Stak
  expect(stdout).not.toContain('"code":"');
});
