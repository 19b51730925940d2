import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

// Ports that are the same after each start. All are taken before one is given back.
export async function findFreePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map(server => (server.address() as AddressInfo).port);
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))));
  return ports;
}

export const findFreePort = async (): Promise<number> => (await findFreePorts(1))[0]!;
