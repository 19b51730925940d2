import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLogger } from '@stak/kit';
import { mountConsole, readServerConfig, startServer } from '@stak/server';
import { build as buildWithVite } from 'vite';
import { vi } from 'vitest';

export type TestServer = {
  url: string;
  dataFolder: string;
  admitOperator(accountId: string): void;
  close(): Promise<void>;
};

// The console as it is built for everybody, on a server that forgets.
export async function openTestServer(variables: Record<string, string> = {}): Promise<TestServer> {
  built ??= build();
  const folder = await built;
  const dataFolder = await mkdtemp(join(tmpdir(), 'stak-test-server-'));
  // Sources tell their address, so the port has to be known before anybody listens.
  const port = await freePort();
  const config = readServerConfig(
    { port, memory: true, demo: false },
    { STAK_REQUESTS_PER_MINUTE: '100000', ...variables },
  );
  const server = await startServer(config, {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
    extend: app => mountConsole(app, { folder, demoFolder: dataFolder }),
  });
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

// Once for all the files that this process tests.
let built: Promise<string> | undefined;

async function build(): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), 'stak-console-'));
  process.once('exit', () => rmSync(outDir, { recursive: true, force: true }));
  vi.stubEnv('NODE_ENV', 'production'); // else React comes with everything it tells developers
  try {
    const root = fileURLToPath(new URL('..', import.meta.url));
    await buildWithVite({ root, logLevel: 'error', build: { outDir, emptyOutDir: true } });
    return outDir;
  } finally {
    vi.unstubAllEnvs();
  }
}

async function freePort(): Promise<number> {
  const server = createSocketServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export type Destination = { url: string; status: number; bodies: string[]; close(): void };

// Where webhooks are delivered to. It answers as it is told.
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
