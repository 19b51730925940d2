import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// The proxy in front of several servers sends requests round those whose /readyz answers 200. As HAProxy does, a
// request goes to the next server if the connection was refused, since nothing was sent then; one that broke later is a
// 502.

const probeMs = 400;
const answerMs = 2_000; // for a probe

export type Proxy = {
  url: string;
  ready(): readonly string[];
  // Answers of 500 and more, its own included, and answers that broke off. Not those of a server whose store is busy.
  failures(): readonly string[];
  close(): Promise<void>;
};

export async function openProxy(targets: readonly string[]): Promise<Proxy> {
  const agent = new Agent({ keepAlive: false });
  const failures: string[] = [];
  let ready: readonly string[] = [];
  let next = 0;
  let isOpen = true;

  const isReady = (url: string): Promise<boolean> =>
    fetch(`${url}/readyz`, { headers: { Connection: 'close' }, signal: AbortSignal.timeout(answerMs) }).then(
      ({ ok }) => ok,
      () => false,
    );

  // Each by itself: a server that does not answer holds up no other.
  const probe = async (url: string): Promise<void> => {
    while (isOpen) {
      const isNow = await isReady(url);
      if (isNow !== ready.includes(url))
        ready = targets.filter(one => (one === url ? isNow : ready.includes(one)));
      await new Promise(resolve => setTimeout(resolve, probeMs));
    }
  };

  function forward(incoming: IncomingMessage, response: ServerResponse, body: Buffer, tried: number): void {
    const candidates = ready;
    const fail = (what: string) => failures.push(`${incoming.method} ${incoming.url}: ${what}`);
    if (candidates.length === 0 || tried >= targets.length) {
      fail('no server is ready');
      response.writeHead(503, { 'Retry-After': '1' }).end();
      return;
    }
    const target = candidates[next++ % candidates.length]!;
    let isConnected = false;
    const outgoing = request(new URL(incoming.url!, target), {
      method: incoming.method,
      headers: { ...incoming.headers, connection: 'close', 'x-forwarded-for': '127.0.0.1' },
      agent,
    });
    outgoing.on('socket', socket => socket.once('connect', () => (isConnected = true)));
    outgoing.on('response', answer => {
      const { connection: _, ...headers } = answer.headers;
      const { statusCode = 0 } = answer;
      response.writeHead(statusCode, headers);
      answer.pipe(response);
      if (statusCode >= 500) {
        let said = '';
        answer.on('data', chunk => (said += chunk));
        answer.on('end', () => {
          if (!said.includes('"table.busy"')) fail(`${target} answered ${statusCode} ${said.slice(0, 300)}`);
        });
      }
      answer.on('error', error => {
        fail(`${target} broke off: ${error.message}`);
        response.destroy();
      });
    });
    outgoing.on('error', error => {
      if (!isConnected) return forward(incoming, response, body, tried + 1);
      if (response.headersSent) return;
      fail(`${target} gave no answer: ${error.message}`);
      response.writeHead(502).end();
    });
    outgoing.end(body);
  }

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', chunk => chunks.push(chunk));
    incoming.on('end', () => forward(incoming, response, Buffer.concat(chunks), 0));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const probing = targets.map(probe);

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: () => ready,
    failures: () => failures,
    async close() {
      isOpen = false;
      server.close();
      server.closeAllConnections();
      await Promise.all(probing);
    },
  };
}
