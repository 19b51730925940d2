import { once } from 'node:events';
import { connect } from 'node:net';
import { createHttpServer } from '@stak/engine';
import { createLogger, manualClock } from '@stak/kit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createReaderWatch, endpoint, route, textStream } from '../src/index.ts';
import { openSocket, serve } from './loopback.ts';
import { openShelf } from './shelf-service.ts';

const host = 'Host: localhost';

describe('a client that does not read', () => {
  const largeBytes = 32 * 1024 * 1024; // far more than the system keeps for a connection
  const text = { description: 'Text', content: { 'text/plain': { schema: z.string() } } };

  function openLarge() {
    const counts = { whole: 0, ended: 0 };
    const get = (path: '/whole' | '/stream') =>
      route({
        reaches: 'nothing',
        audit: false,
        stores: 'nothing',
        tenant: 'none',
        mcp: false,
        method: 'get',
        path,
        auth: 'public',
        summary: 'Much',
        responses: { 200: text },
      });
    const whole = endpoint(get('/whole'), c => {
      counts.whole += 1;
      return c.body('x'.repeat(largeBytes)) as never;
    });
    async function* endless() {
      try {
        for (;;) yield 'x'.repeat(64 * 1024);
      } finally {
        counts.ended += 1;
      }
    }
    const stream = endpoint(get('/stream'), c => c.body(textStream(endless())) as never);
    return { ...openShelf({ more: [whole, stream] }), counts };
  }

  // Asks for it and reads no more than its beginning.
  async function ask(port: number, path: string) {
    const client = openSocket(port);
    client.socket.write(`GET ${path} HTTP/1.1\r\n${host}\r\n\r\n`);
    await client.until('HTTP/1.1 200');
    client.socket.pause();
    return client;
  }

  it('is disconnected, and its response forgotten', async () => {
    const shelf = openLarge();
    const { port } = await serve(shelf);
    const { socket, closed } = await ask(port, '/whole');
    await shelf.clock.advance(30_000 + largeBytes / 16);
    socket.resume();
    expect((await closed).length).toBeLessThan(largeBytes);
  });

  it('is disconnected sooner from a stream, which ends', async () => {
    const shelf = openLarge();
    const { port } = await serve(shelf);
    await ask(port, '/stream');
    for (let s = 0; s < 60 && shelf.counts.ended === 0; s++) await shelf.clock.advance(1000);
    expect(shelf.counts.ended).toBe(1);
  });

  it('may be slow', async () => {
    const shelf = openLarge();
    const { port } = await serve(shelf);
    const { socket, closed } = await ask(port, '/stream');
    for (let s = 0; s < 300; s++) {
      socket.resume();
      await once(socket, 'data');
      socket.pause();
      await shelf.clock.advance(1000);
    }
    expect(shelf.counts.ended).toBe(0);
    socket.destroy();
    await closed;
  });

  it('is disconnected from DynamoDB, too', async () => {
    const clock = manualClock();
    const log = createLogger({ clock, level: 'silent' });
    const execute = async () => ({ TableNames: ['x'.repeat(largeBytes)] });
    const { add: onConnection } = createReaderWatch({ clock, log });
    const server = createHttpServer({ execute }, { onConnection });
    onTestFinished(() => server.close());
    const { port } = await server.listen();
    const { socket, until, closed } = openSocket(port);
    const headers = [
      host,
      'Connection: close',
      'X-Amz-Target: DynamoDB_20120810.ListTables',
      'Content-Type: application/x-amz-json-1.0',
      'Authorization: AWS4-HMAC-SHA256 any',
      'Content-Length: 2',
    ];
    socket.write(`POST / HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{}`);
    await until('HTTP/1.1 200');
    socket.pause();
    await clock.advance(30_000 + largeBytes / 16);
    socket.resume();
    expect((await closed).length).toBeLessThan(largeBytes);
  });

  it('gets one response at a time, however many it asks for', async () => {
    const shelf = openLarge();
    const { port } = await serve(shelf);
    const line = `GET /whole HTTP/1.1\r\n${host}\r\n\r\n`;
    const socket = connect(port, '127.0.0.1');
    socket.write(line.repeat(3));
    await once(socket, 'readable'); // and reads nothing
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
    expect(shelf.counts.whole).toBe(1);
    let bytes = 0;
    for await (const data of socket) {
      bytes += data.length;
      if (bytes > 3 * largeBytes) break;
    }
    expect(shelf.counts.whole).toBe(3);
    const { socket: flood, closed } = openSocket(port);
    flood.write(line.repeat(102));
    await closed;
    expect(shelf.counts.whole).toBe(4);
  });
});
