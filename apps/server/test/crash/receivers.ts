import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from '@stak/kit';

export type Arrival = { eventId: string; atMs: number; status: number };

// Destinations that fail now and then: an error, a hung up connection, an answer that comes too late to matter.
export async function openReceivers(count: number, random: Random) {
  const arrivals: Arrival[][] = Array.from({ length: count }, () => []);
  const state = { failureShare: 0.2 };
  const servers: Server[] = [];
  for (let i = 0; i < count; i++) {
    const server = createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        const fate = random();
        const isFailing = fate < state.failureShare;
        const status = isFailing ? 500 : 200;
        const eventId = String(request.headers['webhook-id']);
        arrivals[i]!.push({ eventId, atMs: Date.now(), status });
        if (isFailing && fate < state.failureShare / 4) response.destroy();
        else setTimeout(() => response.writeHead(status).end(), random() * 20);
      });
      request.on('error', () => {});
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    servers.push(server);
  }
  return {
    arrivals,
    state,
    urls: servers.map(server => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    close: async () => {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise(resolve => server.close(resolve));
      }
    },
  };
}
