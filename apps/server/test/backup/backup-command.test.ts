import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@stak/client';
import { createEngine } from '@stak/engine';
import { createLogger, superviseWorkers, systemClock } from '@stak/kit';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readServerConfig } from '../../src/config/config.ts';
import { startServer } from '../../src/process/server.ts';
import { createBackupHost } from '../../src/store/backup/backup-host.ts';
import * as limits from '../../src/store/backup/limits.ts';
import { killAll, stakWith, startWith } from '../command.ts';
import { addressOf } from '../signed-in.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'stak-backup-'));
});
afterEach(killAll);
afterAll(() => rm(root, { recursive: true, force: true }));

const secretKeys = `k1:${Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')}`;
const backupKeys = `b1:${Buffer.from('vutsrqponmlkjihgfedcba9876543210').toString('base64')}`;
const ann = { email: 'ann@example.com', password: 'a long enough password', cookie: false };

describe('stak start with STAK_BACKUP, stak backup and stak restore', () => {
  it('recover from the loss of a machine', async () => {
    const location = join(root, 'target');
    const env = {
      STAK_BACKUP: location,
      STAK_BACKUP_KEYS: backupKeys,
      STAK_SECRET_KEYS: secretKeys,
      STAK_LAKE: 'off',
      STAK_WORKERS: '2',
    };
    const data = join(root, 'data');
    const flags = (path: string) => ['start', '--path', path, '--port', '0', '--no-demo'];
    const run = startWith({ env }, ...flags(data));
    const url = await addressOf(run);
    const metric = async (name: string) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(text) ?? [];
      return value === undefined ? undefined : Number(value);
    };
    await expect.poll(() => metric('stak_backup_snapshot_timestamp_seconds')).toBeGreaterThan(0);
    await createClient({ baseUrl: url }).accounts.signUp({ body: { ...ann, name: 'Ann' } });
    const signedUpAt = Date.now();
    const status = async () => {
      const { stdout } = await stakWith({ env }, 'backup', 'status', '--json');
      return JSON.parse(stdout) as { shipped_until: string; gaps: unknown[]; snapshot: { bytes: number } };
    };
    const shippedUntil = async () => Date.now() - ((await metric('stak_backup_lag_seconds')) ?? 1e9) * 1000;
    await expect.poll(shippedUntil).toBeGreaterThan(signedUpAt);
    expect(await metric('stak_backup_failures_total')).toBe(0);
    expect(await status()).toMatchObject({ gaps: [], snapshot: { bytes: expect.any(Number) } });

    run.child.kill('SIGKILL');
    await run.code;
    const refused = await stakWith({ env }, 'restore', '--path', data);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
    await rm(data, { recursive: true, force: true });
    const restored = await stakWith({ env }, 'restore', '--path', data);
    expect(restored.code, restored.stderr).toBe(0);
    expect(restored.stdout).toMatch(
      /Restored to .*, as it was at 20.*no problems found.*\(k1\), and the lake/s,
    );
    expect(restored.stderr).toMatch(/Snapshot, parts: \d+ of \d+.*Log, segments: \d+ of \d+.*Check: 1 of 1/s);
    expect((await stat(join(data, 'stak.mdb'))).mode & 0o077).toBe(0);

    const again = startWith({ env: { ...env, STAK_WORKERS: '1' } }, ...flags(data));
    const client = createClient({ baseUrl: await addressOf(again) });
    expect((await client.accounts.logIn({ body: ann })).data.access_token).toBeTypeOf('string');
  }, 120_000);

  it('refuse invalid arguments, in one line', async () => {
    const run = (env: Record<string, string>, ...args: string[]) =>
      stakWith({ env, cwd: root }, ...args).then(({ stderr }) => stderr);
    expect(await run({}, 'backup', 'status')).toContain('--from or STAK_BACKUP');
    expect(await run({}, 'restore', '--from', 's3://bucket/x')).toContain('needs STAK_AWS_REGION');
    expect(await run({}, 'restore', '--from', root, '--to-time', 'noon')).toContain('--to-time needs a time');
    expect(await run({}, 'restore', '--from', join(root, 'none'), '--path', join(root, 'x'))).toContain(
      'no complete snapshot',
    );
    expect(await readdir(root)).not.toContain('x');
  }, 60_000);
});

describe('the settings', () => {
  const read = (env: Record<string, string>, flags = {}) => readServerConfig(flags, env).backup;

  it('are off by default, and set the target, interval, retention and key', () => {
    expect(read({})).toBeUndefined();
    expect(read({ STAK_BACKUP: '/mnt/backup', STAK_BACKUP_KEYS: backupKeys })).toMatchObject({
      location: { kind: 'folder', path: '/mnt/backup' },
      keys: [{ id: 'b1' }],
      everyMs: 500,
      snapshotMs: 6 * 3_600_000,
      keepMs: 35 * 24 * 3_600_000,
    });
    expect(read({ STAK_BACKUP: 's3://b/p', STAK_AWS_REGION: 'eu-west-1' })).toMatchObject({
      location: { kind: 's3', bucket: 'b', prefix: 'p', region: 'eu-west-1' },
    });
  });

  it('refuse a target inside the data folder, a store that cannot be backed up, and an invalid key', () => {
    expect(() => read({ STAK_BACKUP: './data/backup' })).toThrow(/inside .\/data/);
    expect(() => read({ STAK_BACKUP: './data' })).toThrow(/inside .\/data/);
    expect(read({ STAK_BACKUP: './data-backup' })).toBeDefined();
    expect(() => read({ STAK_BACKUP: '/b' }, { memory: true })).toThrow(/--memory/);
    const aws = { STAK_STORE: 'aws', STAK_AWS_REGION: 'eu-west-1', STAK_SECRET_KEYS: secretKeys };
    expect(() => read({ ...aws, STAK_BACKUP: '/b' })).toThrow(/point-in-time recovery/);
    expect(() => read({ STAK_BACKUP: '/b', STAK_BACKUP_KEYS: 'short' })).toThrow(
      /STAK_BACKUP_KEYS needs id:secret/,
    );
  });
});

describe('a target that is not writable', () => {
  it('does not stop the server, is reported, and catches up when it is writable again', async () => {
    const folder = await mkdtemp(join(root, 'away-'));
    const location = join(folder, 'target');
    await writeFile(location, 'a file where a folder should be');
    const path = join(folder, 'data');
    const engine = await createEngine({ path, sweepIntervalMs: 0 });
    onTestFinished(() => engine.close());
    const lines: string[] = [];
    let ahead = 0;
    const log = createLogger({ level: 'info', destination: { write: line => void lines.push(line) } });
    const host = createBackupHost({
      thread: {
        path,
        location: { kind: 'folder', folder: location },
        keys: [],
        settings: { everyMs: 100, snapshotMs: 3_600_000, keepMs: 3_600_000, secretKeyIds: [] },
        logLevel: 'info',
      },
      store: engine,
      journalBytes: 1024 ** 3,
      clock: { ...systemClock, now: () => Date.now() + ahead },
      log,
    });
    const supervisor = superviseWorkers([host.worker], { clock: systemClock, log });
    onTestFinished(async () => void (await supervisor.stop()));
    await vi.waitUntil(() => (host.state()?.failures ?? 0) > 0, { timeout: 60_000 });
    expect(host.state()!.failure).toBeTypeOf('string');
    expect(lines.join()).toContain('the backup fails: it is tried again');
    expect(await host.check()).toBeUndefined();
    ahead = limits.degradedMs + 1000;
    expect(await host.check()).toBe('degraded');
    ahead = 0;
    await engine.execute('CreateTable', {
      TableName: 'things',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    });
    await rm(location);
    await vi.waitUntil(() => (host.state()?.snapshotAt ?? 0) > 0, { timeout: 60_000 });
    await vi.waitUntil(() => host.state()!.failure === undefined, { timeout: 60_000 });
    expect(host.state()).toMatchObject({ gaps: 0 });
  }, 60_000);

  it('keeps nothing to be shipped when a server starts without a backup', async () => {
    const folder = await mkdtemp(join(root, 'off-'));
    const path = join(folder, 'data');
    const open = () => createEngine({ path, sweepIntervalMs: 0 });
    const engine = await open();
    await engine.journal.begin({ limitBytes: 1024 ** 2 });
    await engine.close();
    const server = await startServer(readServerConfig({ path, port: 0, demo: false }, { STAK_LAKE: 'off' }), {
      log: createLogger({ level: 'silent' }),
      passwordCost: { logN: 4, r: 8, p: 1 },
    });
    await server.stop();
    const again = await open();
    expect(await again.journal.position()).toBeUndefined();
    await again.close();
  }, 60_000);
});
