import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Client } from '@stak/client';
import { type Clock, createLogger, systemClock } from '@stak/kit';
import { mountConsole, readServerConfig, startServer } from '@stak/server';

export type TestServer = {
  url: string;
  dataFolder: string;
  admitOperator(accountId: string): void;
  close(): Promise<void>;
};

// The console as it is built for production, on a server in memory.
export async function openTestServer(
  variables: Record<string, string> = {},
  change: object = {}, // of the configuration, where there is no variable for it
  clock: Clock = systemClock,
): Promise<TestServer> {
  built ??= build();
  const folder = await built;
  const dataFolder = await mkdtemp(join(tmpdir(), 'stak-test-server-'));
  // Sources contain their address, so the port is chosen before the server starts.
  const port = await freePort();
  const config = readServerConfig(
    { port, memory: true, demo: false },
    { STAK_REQUESTS_PER_MINUTE: '100000', ...variables },
  );
  const server = await startServer(
    { ...config, ...change },
    {
      log: createLogger({ level: 'silent' }),
      clock,
      passwordCost: { logN: 4, r: 8, p: 1 },
      extend: api =>
        mountConsole(api, { folder, docsFolder: join(folder, '../docs/dist'), demoFolder: dataFolder }),
    },
  );
  return {
    url: server.localUrl,
    dataFolder,
    admitOperator: accountId => server.services.explorer!.admitFromHere(accountId),
    async close() {
      await server.stop();
      await rm(dataFolder, { recursive: true });
    },
  };
}

// Built once per process, and kept for the next run if nothing has changed. Every worker has its own folder, because
// two workers would delete each other's files.
let built: Promise<string> | undefined;

async function build(): Promise<string> {
  const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const folder = here(`../../.test/console-${process.env.VITEST_POOL_ID}/dist`);
  // A production build: otherwise React includes its development checks.
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [here('../build.mjs'), folder], { env });
  const docs = [here('../../docs/src/build.ts'), join(folder, '../docs/dist')];
  await promisify(execFile)(process.execPath, ['--import', 'tsx', ...docs], { env });
  return folder;
}

export async function freePort(): Promise<number> {
  const server = createSocketServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export type Destination = { url: string; status: number; bodies: string[]; close(): void };

// A destination for webhooks that answers with the given status.
export async function openDestination(status: number): Promise<Destination> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    destination.bodies.push(Buffer.concat(chunks).toString());
    response.writeHead(destination.status).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const destination: Destination = {
    url: `http://127.0.0.1:${port}/taken`,
    status,
    bodies: [],
    close: () => void server.close().closeAllConnections(),
  };
  return destination;
}

export const post = (address: string, body: unknown) =>
  fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

// Creates through the API what the page creates with its form.
export async function sampleSource(client: Client): Promise<{ path: string; address: string }> {
  const { data } = await client.webhooks.createSource({ body: { name: 'Shop' } });
  return { path: `/console/webhooks/${data.sourceId}`, address: data.ingestUrl! };
}
