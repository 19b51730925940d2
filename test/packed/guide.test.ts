import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runGuide } from '../guides/guide.ts';
import { clean, inProject, root } from './outside.ts';

// Guides with the real npx, in a folder where `npm install @stak/server` has taken the server from a registry, and at
// the address that the guides name. test/guides runs them at another one.

const npm = JSON.parse(process.env.STAK_PACKED_NPM ?? 'null') as Record<string, string> | null;
const defaultPort = 8787;

const probe = createServer().listen(defaultPort, '127.0.0.1');
const isFree = await once(probe, 'listening').then(
  () => true,
  () => false,
);
probe.close();

const cwd = inProject('guide');
const env = { ...(clean as Record<string, string>), ...npm, XDG_CONFIG_HOME: cwd };
let stop = async () => {};

beforeAll(async () => {
  if (!npm) return;
  const more = isFree ? {} : { STAK_PORT: '0' };
  const child = spawn('npx', ['--no-install', 'stak', 'start'], {
    cwd,
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const closed = once(child, 'close');
  stop = async () => {
    process.kill(-child.pid!, 'SIGTERM');
    await closed;
  };
  for await (const line of createInterface(child.stdout)) {
    const [, url] = /Stak is at (\S+)/.exec(line) ?? [];
    if (url !== undefined && !isFree) Object.assign(env, { STAK_URL: url });
    if (line.startsWith('To see it move')) break;
  }
  child.stdout.resume();
});
afterAll(() => stop());

const where = isFree ? 'at the default address' : `at another address, because port ${defaultPort} is taken`;
const pages: readonly (readonly [string, RegExp])[] = [
  ['quickstart', /"total":2,"unread":2,"unseen":2/],
  ['webhooks', /"auditTrail":true/],
  ['inbox', /"title":"Your invoice"/],
  ['tasks', /"title":"Buy bread"/],
  ['lake', /"name":"tasks-completed"/],
  ['storage', /"plan":"selfhosted"/],
];

it.skipIf(!npm).each(pages)(`%s, installed by name, ${where} (needs Verdaccio)`, async (name, shown) => {
  const page = { file: join(root, `docs/guides/${name}.md`) };
  const { output, exported } = await runGuide(page, { folder: cwd, env, isAlone: true });
  expect(output).toMatch(shown);
  const { KEY, STAK_TOKEN } = exported;
  Object.assign(env, { KEY, STAK_TOKEN });
});
