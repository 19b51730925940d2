import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

// How a provider can misbehave.
export type Mood = 'well' | 'down' | 'silent' | 'garbage' | 'endless' | 'failing';

export type Loopback = {
  url: string;
  mood: Mood;
  close(): Promise<void>;
};

// A server on this machine whose answers can be spoilt. `make` learns the address before anybody calls.
export async function openLoopback(
  make: (url: string) => RequestListener | Promise<RequestListener>,
): Promise<Loopback> {
  let listener: RequestListener = () => {};
  const server = createServer((request, response) => {
    switch (loopback.mood) {
      case 'well':
        return listener(request, response);
      case 'down':
        return request.socket.destroy();
      case 'silent':
        return undefined;
      case 'garbage':
        return response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>Hello');
      case 'failing':
        return response
          .writeHead(503, { 'Content-Type': 'application/json' })
          .end('{"error":"server_error"}');
      case 'endless': {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        const more = () => {
          while (!response.destroyed && response.write('[0,'.repeat(10_000)));
        };
        response.on('drain', more);
        return more();
      }
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const loopback: Loopback = {
    url,
    mood: 'well',
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  listener = await make(url);
  return loopback;
}

export async function readText(request: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
