import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { onTestFinished } from 'vitest';
import { createOutbound, type OutboundSettings } from '../src/index.ts';
import { certificate, key } from './certificate.ts';

// Servers on the loopback that live as long as the test that started them.

export type Seen = { method: string; url: string; headers: http.IncomingHttpHeaders; body: Buffer };

export async function startServer(handle: http.RequestListener = (_, response) => response.end('ok')) {
  return listen(http.createServer(handle));
}

export async function startSecureServer() {
  return listen(https.createServer({ key, cert: certificate }, (_, response) => response.end('secure')));
}

// Speaks whatever it likes, so that it can speak bad HTTP.
export async function startSocketServer(handle: (socket: net.Socket) => void) {
  return listen(
    net.createServer(socket => {
      socket.on('error', () => {});
      handle(socket);
    }),
  );
}

async function listen(server: net.Server) {
  const sockets = new Set<net.Socket>();
  let connections = 0;
  server.on('connection', socket => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port, url: `http://127.0.0.1:${port}/`, connections: () => connections };
}

// Loopback is allowed, as in development.
export function openOutbound(settings: OutboundSettings = {}) {
  const outbound = createOutbound({ allow: ['127.0.0.0/8'], ...settings });
  onTestFinished(() => outbound.close());
  return outbound;
}

export async function readAll(request: http.IncomingMessage): Promise<Seen> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = '', url = '', headers } = request;
  return { method, url, headers, body: Buffer.concat(chunks) };
}
