// A day of an operator, with the packages as they are published to a registry on this machine: npm run test:operator
// Install, start, back up, upgrade, roll back, full disk, kill, restore to a moment, migrate under writes. After each
// step, everything that the server has is compared with what it acknowledged. [-- --keep] leaves the folder.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { packAll } from '../../scripts/pack.ts';
import { type Registry, startRegistry } from '../registry/registry.ts';
import { mountSmallDisk, type SmallDisk } from './disk.ts';
import { copyOf, type Ledger, openLedger, verify, write, writeSome, writeSteadily } from './ledger.ts';
import { endAll, run, runWell, type Server, startServer } from './program.ts';
import { packOldVersion } from './versions.ts';

const root = join(import.meta.dirname, '../..');
const limitMs = 30 * 60_000;
const stepMs = 5 * 60_000;
const diskMegabytes = 512;

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
const folder = await mkdtemp(join(tmpdir(), 'stak-operator-'));
const inFolder = (...path: string[]): string => join(folder, ...path);
const begunMs = performance.now();
let registry: Registry | undefined;
let disk: SmallDisk | undefined;

const env = {
  STAK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  STAK_WORKERS: '2',
  STAK_LAKE: 'off',
  STAK_LOG_LEVEL: 'error',
  STAK_DEFAULT_PLAN: 'selfhosted',
  STAK_STORAGE_LIMITS: 'none',
  STAK_REQUESTS_PER_MINUTE: '1000000',
  STAK_WEBHOOKS_PER_MINUTE: '1000000',
};
const shipped = inFolder('shipped');

function end(reason: string): void {
  console.error(`Stopped: ${reason}`);
  void tidyUp().finally(() => process.exit(1));
}

async function tidyUp(): Promise<void> {
  endAll();
  await registry?.stop();
  disk?.remove();
  disk = undefined;
  if (values.keep) console.log(`Everything is in ${folder}`);
  else await rm(folder, { recursive: true, force: true });
}

async function step(title: string, make: () => Promise<string | undefined>): Promise<void> {
  const startedMs = performance.now();
  const limit = globalThis.setTimeout(
    () => end(`${title} took longer than ${stepMs / 60_000} minutes`),
    stepMs,
  );
  const result = await make().finally(() => clearTimeout(limit));
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${title} (${seconds} s)${result === undefined ? '' : `: ${result}`}`);
}

type Version = { folder: string; version: string };
const start = (
  { folder: cwd }: Version,
  path: string | undefined,
  more: Record<string, string> = {},
): Promise<Server> =>
  startServer({
    command: join(cwd, 'node_modules/.bin/stak'),
    args: ['start', ...(path === undefined ? [] : ['--path', path]), '--port', '0', '--no-demo'],
    cwd,
    env: { ...env, ...more },
  });
const npx = ({ folder: cwd }: Version, args: string[], more: Record<string, string> = {}) => ({
  command: 'npx',
  args: ['--no-install', 'stak', ...args],
  cwd,
  env: { ...registry!.env, STAK_SECRET_KEYS: env.STAK_SECRET_KEYS, ...more },
});

async function install(name: string, to: string): Promise<Version> {
  const cwd = inFolder(to);
  await mkdir(cwd, { recursive: true });
  await runWell({
    command: 'npm',
    args: ['install', '--prefix', cwd, '--ignore-scripts', name],
    cwd,
    env: registry!.env,
  });
  const printed = await runWell(npx({ folder: cwd, version: '' }, ['--version']));
  return { folder: cwd, version: /stak\/(\S+)/.exec(printed)![1]! };
}

async function day(): Promise<number> {
  registry = await startRegistry(inFolder('registry'));
  if (registry === undefined) {
    console.log('Skipped: neither the cache of npm nor a registry has Verdaccio.');
    return 0;
  }
  const old = await packOldVersion();
  if (old === undefined) {
    console.log(
      'Skipped: this clone does not have the pinned commit, from which the older version is packed.',
    );
    return 0;
  }
  const tarballs = packAll(inFolder('packed'));
  await registry.publish([old, tarballs.get('@stak/server')!]);
  console.log(
    `A registry on this machine has both versions, after ${Math.round((performance.now() - begunMs) / 1000)} s.`,
  );

  let before!: Version;
  let now!: Version;
  let server!: Server;
  let ledger!: Ledger;
  await step('Install', async () => {
    before = await install('stak@0.1.0', 'opt-before');
    now = await install('@stak/server', 'opt');
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    assert.ok(now.version.startsWith(version), `${now.version} is ${version}`);
    return `${before.version} and ${now.version}`;
  });

  // The disk holds what the server writes, and nothing else.
  disk = mountSmallDisk(inFolder('disk'), diskMegabytes);
  const data = inFolder('disk/data');

  await step('Start the older version', async () => {
    server = await start(before, data);
    ledger = await openLedger(server.url);
    await writeSome(server.url, ledger, 'first');
    return verify(server.url, ledger);
  });

  const backedUp = inFolder('before-upgrade');
  let ledgerBefore!: Ledger;
  await step('Back up while it runs', async () => {
    await runWell(npx(before, ['dynamodb', 'backup', '--path', data, '--to', backedUp]));
    ledgerBefore = copyOf(ledger);
    await writeSome(server.url, ledger, 'after the backup');
    return verify(server.url, ledger);
  });

  await step('Upgrade', async () => {
    await server.stop();
    server = await start(now, data, { STAK_BACKUP: shipped });
    const health = (await (await fetch(`${server.url}/healthz`)).json()) as {
      version: string;
      commit?: string;
    };
    assert.equal([health.version, health.commit].filter(Boolean).join('+'), now.version);
    const result = await verify(server.url, ledger);
    await writeSome(server.url, ledger, 'upgraded');
    await verify(server.url, ledger);
    return result;
  });

  await step('Roll back', async () => {
    await server.stop();
    const refused = await run({
      command: join(before.folder, 'node_modules/.bin/stak'),
      args: ['start', '--path', data, '--port', '0', '--no-demo'],
      cwd: before.folder,
      env,
    });
    assert.notEqual(refused.code, 0, 'the older version refuses the newer store');
    assert.match(refused.output, /this store has format \d+; this version of Stak reads format 1\./);
    const rolledBack = await start(before, backedUp);
    const result = await verify(rolledBack.url, ledgerBefore);
    await writeSome(rolledBack.url, ledgerBefore, 'rolled back');
    await verify(rolledBack.url, ledgerBefore);
    await rolledBack.stop();
    server = await start(now, data, { STAK_BACKUP: shipped });
    await verify(server.url, ledger);
    return result;
  });

  await step('Full disk', async () => {
    if (disk === undefined) {
      const args = ['vitest', 'run', 'packages/engine/test/durability.test.ts', '-t', 'disk'];
      await runWell({ command: 'npx', args: ['--no-install', ...args], cwd: root });
      return 'this process may not mount a disk; the engine was tested with an injected ENOSPC instead';
    }
    const { url } = server;
    disk.fill();
    const refusedBefore = ledger.refused;
    for (const kind of ['task', 'message', 'event'] as const)
      assert.equal(await write(url, ledger, kind, `full ${kind}`), 507, `a ${kind} on a full disk`);
    assert.equal(ledger.refused, refusedBefore + 3);
    assert.equal((await fetch(`${url}/readyz`)).status, 503);
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    const result = await verify(url, ledger);
    await server.stop(); // with nothing to write to
    disk.free();
    server = await start(now, data, { STAK_BACKUP: shipped });
    await verify(server.url, ledger);
    disk.fill();
    assert.equal(await write(server.url, ledger, 'task', 'full again'), 507);
    disk.free();
    await eventually(async () => (await fetch(`${server.url}/readyz`)).status === 200);
    await writeSome(server.url, ledger, 'room again');
    await verify(server.url, ledger);
    return `507 and nothing changed; ${result}; it goes on as soon as there is room`;
  });

  await step('Kill', async () => {
    let kills = 0;
    for (; kills < 3; kills++) {
      const size = ledger.entries.size;
      const writers = writeSteadily(server.url, ledger, 'killed');
      await eventually(async () => ledger.entries.size > size + 60);
      await server.kill();
      await writers.stop();
      const unanswered = ledger.unanswered.size;
      server = await start(now, data, { STAK_BACKUP: shipped });
      await verify(server.url, ledger);
      assert.ok(unanswered > 0, 'the server was killed while it was written to');
    }
    return `${kills} times by SIGKILL while it was written to; ${await verify(server.url, ledger)}`;
  });

  await step('Restore to a moment', async () => {
    await writeSome(server.url, ledger, 'until the moment');
    const atThatMoment = copyOf(ledger);
    await setTimeout(20);
    const moment = new Date();
    await setTimeout(20);
    await writeSome(server.url, ledger, 'after the moment');
    const wantedMs = Date.now();
    let status = '';
    await eventually(async () => {
      const { code, output } = await run(npx(now, ['backup', 'status', '--from', shipped, '--json']));
      status = output;
      return code === 0 && Date.parse(JSON.parse(output).shipped_until) > wantedMs;
    });
    assert.ok(status.includes(now.version), 'the backup names the version that made it');
    const restored = inFolder('restored');
    const to = ['--to-time', moment.toISOString(), '--path', restored];
    await runWell(npx(now, ['restore', '--from', shipped, ...to]));
    const other = await start(now, restored);
    const result = await verify(other.url, atThatMoment);
    await other.stop();
    await verify(server.url, ledger);
    return result;
  });

  await step('Migrate under writes', async () => {
    const dynamo = await startServer({
      command: join(now.folder, 'node_modules/.bin/stak'),
      args: ['dynamodb', '--path', inFolder('dynamodb'), '--port', '0'],
      cwd: now.folder,
    });
    const aws = { AWS_ENDPOINT_URL: dynamo.url, AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' };
    await server.stop();
    server = await start(now, data, aws);
    const { refused, unreached } = ledger;
    const writerCount = 3;
    const writers = writeSteadily(server.url, ledger, 'migrated', writerCount);
    const to = ['--to', 'aws', '--region', 'eu-central-1', '--pause', '30s'];
    const output = await runWell(npx(now, ['migrate', '--path', data, ...to], aws));
    assert.match(output, /The server continues there\./);
    await setTimeout(1_000); // of writes there
    const { slowestMs } = await writers.stop();
    // Each writer may have been connecting when the server closed its folder.
    assert.ok(ledger.unanswered.size <= writerCount, `${ledger.unanswered.size} requests got no answer`);
    const [, paused] = /paused for ([\d.]+) s/.exec(output)!;
    const unanswered = ledger.unanswered.size;
    const result = await verify(server.url, ledger);
    await server.stop();
    server = await start(now, undefined, {
      ...aws,
      STAK_STORE: 'aws',
      STAK_AWS_REGION: 'eu-central-1',
    });
    await verify(server.url, ledger);
    await server.stop();
    await dynamo.stop();
    const waited = [
      `writes paused for ${paused} s`,
      `${(slowestMs / 1000).toFixed(1)} s without an accepted one`,
      `${ledger.refused - refused} refused`,
      `${ledger.unreached - unreached} not connected`,
      `${unanswered} not answered`,
    ];
    return `${waited.join(', ')}; ${result}, also for another server on DynamoDB`;
  });
  console.log(`The day is over after ${Math.round((performance.now() - begunMs) / 1000)} s.`);
  return 0;
}

async function eventually(check: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (await check().catch(() => false)) return;
    await setTimeout(100);
  }
  throw new Error('It did not happen within a minute');
}

const overall = globalThis.setTimeout(() => end(`it took longer than ${limitMs / 60_000} minutes`), limitMs);
try {
  process.exitCode = await day();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  clearTimeout(overall);
  await tidyUp();
}
