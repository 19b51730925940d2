import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openOutbound } from './destinations.ts';

// A name that has public and private addresses at once.

async function listenAt(host: string, port = 0) {
  let connections = 0;
  const server = net.createServer(socket => {
    connections += 1;
    socket.on('error', () => {});
    socket.once('data', () =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

it.each([
  [['127.0.0.2', '127.0.0.1']],
  [['127.0.0.1', '127.0.0.2']],
  [['127.0.0.2', '127.0.0.1', '127.0.0.2']],
])('is asked at none of its private addresses: %j', async addresses => {
  const permitted = await listenAt('127.0.0.1');
  const denied = await listenAt('127.0.0.2', permitted.port);
  const outbound = openOutbound({ allow: ['127.0.0.1/32'], resolver: async () => addresses });
  const url = `http://mixed.example:${permitted.port}/`;
  expect(await outbound.send({ url, method: 'POST' })).toMatchObject({ ok: true, address: '127.0.0.1' });
  expect([permitted.connections(), denied.connections()]).toEqual([1, 0]);
});
