import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Random } from '@stak/kit';
import { findFreePort } from '../free-ports.ts';

// `stak start` with several workers, which the campaign kills: one of them, their supervisor, or all at once.

export type Victim = 'worker' | 'supervisor' | 'all';
export type CrashServer = {
  url: string;
  killed: { atMs: number; victim: Victim }[];
  kill(victim: Victim, random: Random): Promise<void>; // and starts what the supervisor does not
  stop(): Promise<void>;
};

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const readyWithinMs = 60_000;

export function buildServer(folder: string): string {
  execFileSync(process.execPath, [here('../../build.mjs'), here('./server-process.ts'), folder]);
  return join(folder, 'server-process.mjs');
}

export async function startServer(
  script: string,
  data: string,
  workers: number,
  env: Record<string, string> = {},
): Promise<CrashServer> {
  const port = await findFreePort(); // the same after each start, so that senders find it again
  const url = `http://127.0.0.1:${port}`;
  const killed: CrashServer['killed'] = [];

  const isReady = () =>
    fetch(`${url}/readyz`, { headers: { Connection: 'close' }, signal: AbortSignal.timeout(2000) }).then(
      ({ ok }) => ok,
      () => new Promise<boolean>(resolve => setTimeout(resolve, 20, false)),
    );

  async function start(): Promise<ChildProcess> {
    const args = ['start', '--path', data, '--port', String(port), '--workers', String(workers), '--no-demo'];
    const started = spawn(process.execPath, [script, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        STAK_LAKE: 'off',
        STAK_LOG_LEVEL: 'silent',
        STAK_DRAIN_SECONDS: '0',
        STAK_REQUESTS_PER_MINUTE: '1000000000',
        STAK_WEBHOOKS_PER_MINUTE: '1000000000',
        STAK_STORAGE_LIMITS: 'none',
        ...env,
      },
    });
    started.stdout!.resume();
    const deadlineMs = Date.now() + readyWithinMs;
    while (!(await isReady())) {
      if (started.exitCode !== null) throw new Error(`the server ended with ${started.exitCode}`);
      if (Date.now() > deadlineMs) throw new Error('the server did not start');
    }
    return started;
  }

  const workerPids = (of: ChildProcess): number[] => {
    try {
      const found = execFileSync('pgrep', ['-P', String(of.pid)], { encoding: 'utf8' });
      return found.trim().split('\n').map(Number);
    } catch {
      return [];
    }
  };

  const end = (pid: number) => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It was gone.
    }
  };

  let child = await start();

  return {
    url,
    killed,
    async kill(victim, random) {
      const pids = workerPids(child);
      const gone = once(child, 'exit');
      killed.push({ atMs: Date.now(), victim });
      if (victim === 'worker' && workers > 1) {
        if (pids.length > 0) end(pids[Math.floor(random() * pids.length)]!);
        return;
      }
      end(child.pid!);
      // Without a supervisor they stop by themselves, beside those that take their place.
      if (victim !== 'supervisor') for (const pid of pids) end(pid);
      await gone;
      child = await start();
    },
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

export type Answer = { status: number; json: Record<string, unknown> };

export type Asked = { url: string; answerMs?: number };

// Returns the server's answer, or undefined if it died before it could give one.
export async function ask(
  { url, answerMs = 5_000 }: Asked,
  path: string,
  init: { method?: string; send?: unknown; body?: string; token?: string; key?: string } = {},
): Promise<Answer | undefined> {
  try {
    const response = await fetch(`${url}${path}`, {
      method: init.method ?? (init.send || init.body ? 'POST' : 'GET'),
      headers: {
        ...(init.token !== undefined && { Authorization: `Bearer ${init.token}` }),
        ...(init.key !== undefined && { 'Idempotency-Key': init.key }),
        ...(init.send !== undefined && { 'Content-Type': 'application/json' }),
        ...(init.method === 'PATCH' && { 'If-Match': '*' }),
      },
      body: init.send === undefined ? init.body : JSON.stringify(init.send),
      // A connection that was being handed to a worker when that was killed is never answered.
      signal: AbortSignal.timeout(answerMs),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  } catch {
    return undefined;
  }
}

// Asks until there is an answer that says something about the request, not about the server.
export async function askAgain(
  server: Asked,
  path: string,
  init: Parameters<typeof ask>[2] = {},
): Promise<Answer> {
  for (;;) {
    const answer = await ask(server, path, init);
    if (answer && answer.status < 500 && answer.status !== 409) return answer;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}

// The campaign itself needs this, and cannot go on without it.
export async function make(
  server: Asked,
  path: string,
  init: Parameters<typeof ask>[2],
): Promise<Record<string, unknown>> {
  const { status, json } = await askAgain(server, path, init);
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
  return json;
}

export async function signUp(server: Asked): Promise<string> {
  const token = await signUpOnce(server);
  const body = { name: 'crash', permissions: 'admin' };
  return String((await make(server, '/v1/api-keys', { send: body, token })).key);
}

// Another address each time: one whose answer was lost is taken.
async function signUpOnce(server: Asked): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const person = {
      email: `crash-${attempt}@example.com`,
      password: 'a long enough password',
      name: 'Crash',
    };
    const answer = await ask(server, '/v1/auth/signup', { send: { ...person, cookie: false } });
    if (answer?.json.access_token !== undefined) return String(answer.json.access_token);
    if (answer && answer.status < 500) throw new Error(`nobody could sign up: ${JSON.stringify(answer)}`);
    await new Promise(resolve => setTimeout(resolve, 500));
  }
}
