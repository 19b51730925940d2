import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runHere } from './command.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-exit-'));
  vi.stubEnv('STAK_BACKUP_KEYS', `k1:${randomBytes(32).toString('base64')}`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

test('a place without a complete snapshot is a failure', async () => {
  for (const from of [folder, join(folder, 'nope')]) {
    expect(await runHere('backup', 'status', '--from', from)).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('nothing can be restored'),
    });
    expect((await runHere('backup', 'status', '--from', from, '--json')).code).toBe(2);
  }
  expect((await runHere('backup', 'status', '--from', folder, '--max-lag', 'soon')).code).toBe(1);
});

test('help says what the exit codes of monitored commands mean', async () => {
  for (const command of ['backup', 'streams', 'dynamodb']) {
    const help = vi.spyOn(console, 'info').mockImplementation(() => {});
    await runHere(command, '--help');
    expect(help.mock.calls.join('\n'), command).toMatch(/Exit codes:\n +0 /);
    help.mockRestore();
  }
});

test('a migration refuses a pause that it cannot read', async () => {
  for (const pause of ['soon', '11m'])
    expect(await runHere('migrate', '--path', folder, '--to', 'aws', '--pause', pause)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--pause'),
    });
});
