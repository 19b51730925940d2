import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { signedHeaders } from '../http-exchange.ts';

// The other implementation: a process of its own, with its data in memory, spoken to over plain HTTP.

export const dynoxidePath = findBinary();

// An optional dependency, built for one platform only.
function findBinary(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json');
    const binary = join(dirname(manifest), 'dynoxide');
    return spawnSync(binary, ['--version']).status === 0 ? binary : undefined;
  } catch {
    return undefined;
  }
}

type Answer = { status: number; body: Record<string, unknown> };
export type Dynoxide = { call(operation: string, input: unknown): Promise<Answer>; stop(): Promise<void> };

export async function startDynoxide(binary: string): Promise<Dynoxide> {
  const port = await freePort();
  const child = spawn(binary, ['--port', String(port)], { stdio: 'ignore' });
  const call = async (operation: string, input: unknown): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { ...signedHeaders(operation), 'x-amz-date': '20260101T000000Z' },
      body: JSON.stringify(input),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  await untilListening(child, () => call('ListTables', {}));
  return {
    call,
    async stop() {
      const gone = new Promise(resolve => child.once('exit', resolve));
      child.kill();
      await gone;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise(resolve => server.close(resolve));
  return port;
}

async function untilListening(child: ChildProcess, ask: () => Promise<unknown>): Promise<void> {
  while (child.exitCode === null) {
    try {
      await ask();
      return;
    } catch {
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  }
  throw new Error(`dynoxide ended with ${child.exitCode} before it listened`);
}
