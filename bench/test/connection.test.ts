import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createCaller } from '../src/server/caller.ts';
import { openConnection, parseAnswer } from '../src/server/connection.ts';
import { start, textOf } from '../src/server/load.ts';

describe('a response on the wire', () => {
  const whole = Buffer.from('HTTP/1.1 201 Created\r\nX-A: b\r\nContent-Length: 5\r\n\r\nhello');

  it('is complete with its last byte and not before', () => {
    for (let length = 0; length < whole.length; length++)
      expect(parseAnswer(whole.subarray(0, length))).toBeUndefined();
    expect(parseAnswer(whole)).toMatchObject({ status: 201, body: Buffer.from('hello') });
  });

  it('may have no body, but never one of unknown length', () => {
    expect(parseAnswer(Buffer.from('HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n'))?.status).toBe(204);
    const chunked = Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    expect(() => parseAnswer(chunked)).toThrow('without a length');
  });
});

describe('the load', () => {
  const serve = async () => {
    const server = createServer((request, response) => {
      const status = request.url === '/missing' ? 404 : 200;
      let body = '';
      request.on('data', chunk => {
        body += chunk;
      });
      request.on('end', () => {
        const text = `${request.method} ${request.headers.authorization ?? 'nobody'} ${body}`;
        response.writeHead(status, { 'Content-Length': Buffer.byteLength(text) }).end(text);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server, port: (server.address() as AddressInfo).port };
  };

  it('sends one request after another over a connection', async () => {
    const { server, port } = await serve();
    const connection = await openConnection(port);
    const post = { method: 'POST', path: '/', headers: { Authorization: 'Bearer é' }, body: 'größe' };
    for (let i = 0; i < 3; i++) {
      const { body } = await connection.send(Buffer.from(textOf(post, 'stak')));
      expect(body.toString()).toContain('größe');
    }
    connection.close();
    server.close();
  });

  it('opens a new connection if the server closed an idle one', async () => {
    const { server, port } = await serve();
    const caller = createCaller(`http://127.0.0.1:${port}`);
    await caller.call({ method: 'GET', path: '/' }, 200);
    const connection = await openConnection(port);
    server.closeAllConnections();
    await expect.poll(() => connection.isOpen()).toBe(false);
    await expect(connection.send(Buffer.from('GET'))).rejects.toThrow('hung up');
    await caller.call({ method: 'GET', path: '/' }, 200);
    caller.close();
    server.close();
  });

  it('fails on an unexpected response, and when the server disconnects', async () => {
    const { server, port } = await serve();
    const requests = [{ method: 'GET', path: '/missing' }];
    const load = await start({
      url: `http://127.0.0.1:${port}`,
      operations: { wrong: { requests, status: 200 }, right: { requests, status: 404 } },
    });
    await expect(load.operations.wrong!()).rejects.toThrow('wrong: 404 instead of 200: GET nobody');
    await load.operations.right!();
    server.closeAllConnections();
    server.close();
    await expect(load.operations.right!()).rejects.toThrow();
  });
});
