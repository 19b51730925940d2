import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Client, createClient } from '@stak/client';
import { expect } from 'vitest';
import { type Run, startWith } from '../command.ts';
import { addressOf } from '../signed-in.ts';

// The server as `stak start` runs it, in a process of its own: what an attack costs is measured from outside.

export type AttackedServer = {
  url: string;
  port: number;
  run: Run;
  memoryMB(): Promise<number>; // resident
  stop(): Promise<void>;
};

type Options = { env?: Record<string, string>; heapMB?: number };

export async function startAttacked({ env = {}, heapMB }: Options = {}): Promise<AttackedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'stak-attacks-'));
  const options: Record<string, string> =
    heapMB === undefined ? {} : { NODE_OPTIONS: `--max-old-space-size=${heapMB}` };
  const run = startWith(
    { env: { STAK_LAKE: 'off', STAK_LOG_LEVEL: 'error', ...options, ...env } },
    ...['start', '--no-demo', '--port', '0', '--path', folder],
  );
  const url = await addressOf(run);
  return {
    url,
    port: Number(new URL(url).port),
    run,
    async memoryMB() {
      const status = await readFile(`/proc/${run.child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
    },
    async stop() {
      run.child.kill('SIGTERM');
      await run.code;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type Person = { email: string; password: string; token: string; key: string; client: Client };

export async function signUp(url: string, name: string): Promise<Person> {
  const email = `${name}@example.com`;
  const password = `correct horse battery ${name}`;
  const { accounts } = createClient({ baseUrl: url });
  const { data } = await accounts.signUp({ body: { email, password, name, cookie: false } });
  const session = createClient({ baseUrl: url, token: data.access_token });
  const { data: made } = await session.accounts.createKey({ body: { name: 'attack', permissions: 'admin' } });
  const client = createClient({ baseUrl: url, token: made.key });
  return { email, password, token: data.access_token, key: made.key, client };
}

// Every address of 127.0.0.0/8 is this machine: attackers and their victims have different ones.
const victimAddress = '127.0.0.99';

const thread = new URL('./bystander-thread.mjs', import.meta.url);

/** Does the work, and checks that others are served meanwhile: usually at once, and always within `mostMs`. */
export async function withBystander<T>(port: number, work: () => Promise<T>, mostMs = 1_000): Promise<T> {
  const worker = new Worker(thread, { workerData: { port, address: victimAddress, everyMs: 20 } });
  const told = once(worker, 'message') as Promise<[{ waitedMs: number[]; failure?: string }]>;
  try {
    return await work();
  } finally {
    worker.postMessage('over');
    const [{ waitedMs, failure }] = await told;
    expect(failure).toBeUndefined();
    waitedMs.sort((a, b) => a - b);
    expect(waitedMs[Math.floor(waitedMs.length / 2)], 'what a bystander usually waits').toBeLessThan(
      mostMs / 4,
    );
    expect(waitedMs.at(-1), 'what a bystander waits at most').toBeLessThan(mostMs);
  }
}

/** Opens a connection, and collects what it receives. */
export type RawConnection = { socket: Socket; text(): string; closed: Promise<string> };

export function openRaw(port: number, localAddress = '127.0.0.1'): RawConnection {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  let received = '';
  socket.on('data', chunk => {
    if (received.length < 100_000) received += chunk.toString('latin1');
  });
  socket.on('error', () => {}); // being hung up on is an answer, too
  const closed = new Promise<string>(resolve => socket.once('close', () => resolve(received)));
  return { socket, text: () => received, closed };
}

export type Stream = { status: number; end(): void; closed: Promise<void> };

const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

/** Opens an event stream; resolves when its headers have arrived. */
export const openStream = (port: number, path: string, token: string, localAddress: string) =>
  new Promise<Stream>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    const outgoing = request({ port, host: '127.0.0.1', path, headers, localAddress, agent });
    outgoing.on('error', reject);
    outgoing.on('response', (response: IncomingMessage) => {
      response.resume();
      response.on('error', () => {});
      const closed = new Promise<void>(done => response.once('close', done));
      resolve({ status: response.statusCode ?? 0, end: () => outgoing.destroy(), closed });
    });
    outgoing.end();
  });
