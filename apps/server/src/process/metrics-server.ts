import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Metrics } from '@stak/http';

// Serves metrics on a separate address, so that a proxy in front of the API never reaches them. Several processes share
// the address, like that of the API.
export async function serveMetrics(
  { host, port }: { host: string; port: number },
  { read, contentType, token }: Metrics,
): Promise<{ port: number; close(): Promise<void> }> {
  const expected = token === undefined ? undefined : digest(`Bearer ${token}`);
  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 10_000 },
    async (request, response) => {
      const isAdmitted =
        expected === undefined || timingSafeEqual(digest(request.headers.authorization ?? ''), expected);
      if (request.url !== '/metrics' || request.method !== 'GET') return void response.writeHead(404).end();
      if (!isAdmitted) return void response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end();
      try {
        const body = await read();
        response.writeHead(200, { 'Content-Type': contentType }).end(body);
      } catch {
        response.writeHead(500).end();
      }
    },
  );
  server.listen(port, host);
  await once(server, 'listening');
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound ? bound.port : port,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
