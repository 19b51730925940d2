import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type Hit = {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
};
export type Answer = (hit: Hit, response: ServerResponse) => void;

export const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);

// A real server. Its response can be changed while it runs.
export async function openDestination(first: Answer = answer(200)) {
  const hits: Hit[] = [];
  const destination = { hits, answer: first, url: '', close: async () => {} };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // the sender hung up
    }
    const hit = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks),
    };
    hits.push(hit);
    destination.answer(hit, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  destination.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  destination.close = async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  };
  onTestFinished(destination.close);
  return destination;
}
