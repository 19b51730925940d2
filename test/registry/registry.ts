import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

// A registry of npm on this machine: Verdaccio, which has our packages as they are published to it, and asks the
// registry of the machine for all others.

const root = join(import.meta.dirname, '../..');
const execute = promisify(execFile);
// The newest that runs on Node 20. It asks for node-fetch by a tag that not every registry knows.
const verdaccio = 'verdaccio@6.8.0';
const manifest = { private: true, overrides: { 'node-fetch': '2.7.0' } };
const cache = join(root, 'node_modules/.cache/registry');
export const unreachable =
  /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH/;

export type Registry = {
  url: string;
  env: Record<string, string>; // makes npm and npx use it
  publish(tarballs: Iterable<string>): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a registry that keeps its files in `folder`; undefined where Verdaccio can be had from nowhere. */
export async function startRegistry(folder: string): Promise<Registry | undefined> {
  const program = await installVerdaccio();
  if (program === undefined) return undefined;
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const upstream = (await execute('npm', ['config', 'get', 'registry'], { cwd: folder })).stdout.trim();
  const packages = {
    '@stak/*': { access: '$all', publish: '$anonymous' },
    stak: { access: '$all', publish: '$anonymous' }, // the server's name before 0.2.0
    '**': { access: '$all', proxy: 'upstream' },
  };
  const config = {
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    uplinks: { upstream: { url: upstream, maxage: '60m' } },
    packages,
    max_body_size: '100mb',
    log: { type: 'stdout', format: 'pretty', level: 'error' },
  };
  const file = join(folder, 'verdaccio.yaml');
  await writeFile(file, JSON.stringify(config)); // which is YAML, too
  const child = spawn(process.execPath, [program, '--config', file, '--listen', `127.0.0.1:${port}`], {
    cwd: folder,
    stdio: 'ignore',
  });
  await untilAnswers(`${url}-/ping`, child);
  const settings = join(folder, 'npmrc');
  await writeFile(settings, `registry=${url}\n//127.0.0.1:${port}/:_authToken=nobody\n`);
  const env = {
    npm_config_userconfig: settings,
    npm_config_registry: url,
    npm_config_cache: join(folder, 'cache'), // what others cached of the same name is not ours
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
  return {
    url,
    env,
    async publish(tarballs) {
      for (const tarball of tarballs)
        await execute('npm', ['publish', '--no-provenance', tarball], {
          cwd: folder,
          env: { ...process.env, ...env },
        });
    },
    async stop() {
      if (child.exitCode !== null) return;
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      await closed;
    },
  };
}

// Once for a checkout.
async function installVerdaccio(): Promise<string | undefined> {
  const program = join(cache, 'node_modules/verdaccio/bin/verdaccio');
  if (existsSync(program)) return program;
  await mkdir(cache, { recursive: true });
  await writeFile(join(cache, 'package.json'), JSON.stringify(manifest));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=1'];
  try {
    await execute('npm', ['install', ...flags, verdaccio], { cwd: cache });
    return program;
  } catch (error) {
    await rm(cache, { recursive: true, force: true });
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    if (unreachable.test(stdout + stderr)) return undefined;
    throw error;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}

const triesMs = 100;
const startMs = 60_000;

async function untilAnswers(url: string, child: ChildProcess): Promise<void> {
  for (let waitedMs = 0; waitedMs < startMs; waitedMs += triesMs) {
    if (child.exitCode !== null) throw new Error(`The registry ended with ${child.exitCode}`);
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise(resolve => setTimeout(resolve, triesMs));
  }
  throw new Error('The registry did not start');
}
