import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createEngine, createHttpServer } from '@stak/engine';
import { systemClock } from '@stak/kit';
import { describe, it } from 'vitest';
import { awsClient } from '../src/client/aws-client.ts';
import { controlWithPrefix, withPrefix } from '../src/index.ts';
import { type Target, testClient } from './contract.ts';

// Most take any.
const credentials = {
  accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? 'any',
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? 'any',
};
const region = 'us-east-1';
const endpoint = process.env.DYNAMODB_ENDPOINT;

testClient('the embedded engine', async () => {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  return { client: engine.client, control: engine, close: () => engine.close() };
});

// Besides tables of the same names without it.
testClient('the embedded engine with a prefix', async () => {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  const client = withPrefix(engine.client, 'dev.');
  return { client, control: controlWithPrefix(engine, 'dev.'), close: () => engine.close() };
});

testClient("the engine's HTTP server through the AWS SDK", async () => {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  const server = createHttpServer(engine, { port: 0 });
  const { url } = await server.listen();
  return connect(url, async () => {
    await server.close();
    await engine.close();
  });
});

const dynoxide = findDynoxide();
const isExtendDb = process.env.DYNAMODB_KIND === 'extenddb';
if (endpoint)
  testClient(`DynamoDB at ${endpoint}`, async () => ({
    ...connect(endpoint, () => {}),
    imagesNothing: isExtendDb,
    countsHalf: isExtendDb,
  }));
else if (dynoxide) testClient('dynoxide', () => startDynoxide(dynoxide));
else
  describe('dynoxide', () => it.skip('keeps the contract (needs DYNAMODB_ENDPOINT or @dynoxide)', () => {}));

function connect(url: string, stop: () => Promise<void> | void): Target {
  const client = awsClient({ region, endpoint: url, credentials });
  return {
    client,
    control: client,
    async close() {
      client.close();
      await stop();
    },
  };
}

function findDynoxide(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json');
    const binary = join(dirname(manifest), 'dynoxide');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}

async function startDynoxide(binary: string): Promise<Target> {
  const port = await freePort();
  const child = spawn(binary, ['--port', String(port)], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  const target = { ...connect(url, () => stop(child)), imagesNothing: true };
  for (let attempt = 0; ; attempt++) {
    try {
      await target.control.execute('ListTables', {});
      return target;
    } catch (error) {
      if (attempt > 100) throw error;
      await systemClock.sleep(50);
    }
  }
}

function stop(child: ChildProcess): void {
  child.kill('SIGKILL');
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
