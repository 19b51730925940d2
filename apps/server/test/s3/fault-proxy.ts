import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

// Stands before an S3 server, counts requests and does what a network and a busy S3 do to them.

export type Fault =
  | 'slow down' // 503 SlowDown, and nothing was done
  | 'lost answer' // it was done, and the connection breaks
  | 'interrupted'; // half of the body arrives

export type S3Request = {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
};

export type FaultProxy = {
  url: string;
  requests(): number;
  faults(): Readonly<Record<Fault, number>>;
  setFaults(choose: (request: S3Request) => Fault | undefined): void;
  close(): void;
};

export async function openFaultProxy(target: string): Promise<FaultProxy> {
  const faults: Record<Fault, number> = { 'slow down': 0, 'lost answer': 0, interrupted: 0 };
  let count = 0;
  let choose: (request: S3Request) => Fault | undefined = () => undefined;
  const server = createServer(async (incoming, response) => {
    count += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = '', headers } = incoming;
    const { pathname, searchParams } = new URL(incoming.url ?? '/', target);
    const fault = choose({ method, path: pathname, query: searchParams, headers });
    if (fault) faults[fault] += 1;
    if (fault === 'slow down') {
      response.writeHead(503, { 'Content-Type': 'application/xml' });
      response.end('<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>');
      return;
    }
    // The host stays as it was signed.
    const outgoing = request(new URL(incoming.url ?? '/', target), { method, headers, agent: false });
    outgoing.on('error', () => response.destroy());
    outgoing.on('response', answer => {
      if (fault === 'lost answer') {
        answer.resume();
        answer.on('end', () => response.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    if (fault !== 'interrupted') return void outgoing.end(body);
    outgoing.write(body.subarray(0, Math.floor(body.length / 2)));
    await sleep(50);
    outgoing.destroy();
    response.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => count,
    faults: () => ({ ...faults }),
    setFaults: next => {
      choose = next;
    },
    close: () => void server.close().closeAllConnections(),
  };
}
