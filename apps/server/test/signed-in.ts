import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { expect } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';
import { type Finished, killAll, type Run, stakWith, startWith } from './command.ts';

export type SignedIn = {
  url: string;
  client: Client;
  run(...args: string[]): Promise<string>; // what it printed
  fail(...args: string[]): Promise<string>; // what it complained about
  pipe(input: string, ...args: string[]): Promise<Finished>;
  start(env: Record<string, string>, ...args: string[]): Run;
  close(): Promise<void>;
};

// A server in this process, and somebody at a terminal who has an API key for it.
export async function signIn(): Promise<SignedIn> {
  const home = await mkdtemp(join(tmpdir(), 'stak-home-'));
  const server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, {}), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  const { url } = server;
  const person = { email: 'ann@example.com', password: 'a long enough password', name: 'Ann', cookie: false };
  const { data } = await createClient({ baseUrl: url }).accounts.signUp({ body: person });
  const session = createClient({ baseUrl: url, token: data.access_token });
  const { data: made } = await session.accounts.createKey({ body: { name: 'cli', permissions: 'admin' } });
  const env = { XDG_CONFIG_HOME: home, STAK_URL: url, STAK_TOKEN: made.key };

  return {
    url,
    client: createClient({ baseUrl: url, token: made.key }),
    async run(...args) {
      const { code, stdout, stderr } = await stakWith({ env }, ...args);
      expect(code, `stak ${args.join(' ')}: ${stderr}`).toBe(0);
      return stdout.trim();
    },
    async fail(...args) {
      const { code, stderr } = await stakWith({ env }, ...args);
      expect(code).toBe(1);
      return stderr.trim();
    },
    pipe: (input, ...args) => stakWith({ env, input }, ...args),
    start: (more, ...args) => startWith({ env: { ...env, ...more } }, ...args),
    async close() {
      killAll();
      await server.stop();
      await rm(home, { recursive: true });
    },
  };
}

// Resolves when a running command has printed it.
export async function untilPrinted(run: Run, text: string): Promise<void> {
  const isThere = () => run.stdout.includes(text) || run.stderr.includes(text);
  const printed = new Promise<void>(resolve => {
    const look = () => isThere() && resolve();
    run.child.stdout!.on('data', look);
    run.child.stderr!.on('data', look);
    look();
  });
  const ended = run.code.then(code => {
    if (!isThere()) throw new Error(`It ended with ${code} before it printed "${text}": ${run.stderr}`);
  });
  await Promise.race([printed, ended]);
}

// Waits for the address of a server that is starting.
export async function addressOf(run: Run): Promise<string> {
  await untilPrinted(run, 'Stak is at');
  return /Stak is at (\S+)/.exec(run.stdout)![1]!;
}
