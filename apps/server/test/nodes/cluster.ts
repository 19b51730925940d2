import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { findFreePorts } from '../free-ports.ts';
import { openProxy } from './proxy.ts';

// Several servers on one store, behind a proxy: each is a process of its own, which can be killed or restarted.

export type Cluster = {
  url: string; // of the proxy
  answerMs: number; // on a busy machine everything takes its time, and a dead server is heard of at once
  failures(): readonly string[]; // of requests through it
  nodes: readonly string[]; // of each server
  kill(node: number): Promise<void>;
  start(node: number): Promise<void>; // resolves when the proxy sends it requests
  restart(node: number): Promise<void>; // with SIGTERM, as a deployment does
  stop(): Promise<void>;
};

// A store on this machine takes any, unless it says which.
export const credentials = {
  accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? 'nodes',
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? 'nodes',
};

const readyWithinMs = 90_000;
const drainSeconds = 2; // five probes of the proxy

export async function startCluster(
  command: string,
  endpoint: string,
  count: number,
  log: Writable,
): Promise<Cluster> {
  // The same for all: they read each other's tokens and sealed values.
  const secretKeys = `nodes:${randomBytes(32).toString('base64')}`;
  const ports = await findFreePorts(count); // the same after each start, as behind a load balancer
  const nodes = ports.map(port => `http://127.0.0.1:${port}`);
  const proxy = await openProxy(nodes);
  const children: ChildProcess[] = [];

  async function start(node: number): Promise<void> {
    const child = spawn(
      process.execPath,
      [command, 'start', '--port', String(ports[node]), '--workers', '1', '--no-demo'],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...process.env,
          STAK_STORE: 'aws',
          STAK_AWS_ENDPOINT: endpoint,
          STAK_AWS_REGION: 'us-east-1',
          AWS_ACCESS_KEY_ID: credentials.accessKeyId,
          AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
          STAK_SECRET_KEYS: secretKeys,
          STAK_PUBLIC_URL: proxy.url,
          STAK_LAKE: 'off',
          STAK_LOG_LEVEL: 'warn',
          STAK_DRAIN_SECONDS: String(drainSeconds),
          STAK_TRUSTED_PROXY_HOPS: '1',
          STAK_REQUESTS_PER_MINUTE: '1000000000',
          STAK_STORAGE_LIMITS: 'none',
          STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
        },
      },
    );
    children[node] = child;
    endWithUs(child);
    for (const output of [child.stdout, child.stderr]) output.pipe(log, { end: false });
    const isServing = () => proxy.ready().includes(nodes[node]!);
    for (const deadline = Date.now() + readyWithinMs; !isServing(); ) {
      if (child.exitCode !== null) throw new Error(`server ${node} ended with ${child.exitCode}`);
      if (Date.now() > deadline) throw new Error(`server ${node} did not start`);
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  }

  async function end(node: number, signal: NodeJS.Signals): Promise<void> {
    const child = children[node];
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  const stop = async () => {
    await Promise.all(nodes.map((_, node) => end(node, 'SIGKILL')));
    await proxy.close();
  };
  try {
    // All at the same time, on a store without tables.
    await Promise.all(nodes.map((_, node) => start(node)));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: proxy.url,
    answerMs: 30_000,
    failures: proxy.failures,
    nodes,
    start,
    kill: node => end(node, 'SIGKILL'),
    async restart(node) {
      await end(node, 'SIGTERM');
      const { exitCode } = children[node]!;
      if (exitCode !== 0) throw new Error(`server ${node} ended with ${exitCode} after SIGTERM`);
      await start(node);
    },
    stop,
  };
}

// Also if a test fails in a way that leaves no time to clean up.
function endWithUs(child: ChildProcess): void {
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}

// The engine in a process of its own, over the protocol of DynamoDB. It wakes nobody, as DynamoDB does not.
export async function startStore(command: string): Promise<{ endpoint: string; stop(): void }> {
  const child = spawn(process.execPath, [command, 'dynamodb', '--memory', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithUs(child);
  let said = '';
  child.stdout.on('data', chunk => (said += chunk));
  while (!/ at (http:\S+)/.test(said)) await once(child.stdout, 'data');
  return { endpoint: / at (http:\S+)/.exec(said)![1]!, stop: () => child.kill('SIGKILL') };
}
