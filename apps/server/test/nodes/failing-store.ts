import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from '@stak/kit';

// Stands between the servers and their store, and misbehaves as a network and DynamoDB may: requests that never arrive,
// answers that are lost, throttling. In an order that follows from the random numbers.

export type StoreFaults = { lostRequests: number; lostAnswers: number; throttled: number };

/** Often enough that each happens hundreds of times in a minute, and seldom enough that repetitions outlast it. */
const passingStoreFaults: StoreFaults = { lostRequests: 0.005, lostAnswers: 0.01, throttled: 0.01 };

export type FailingStore = {
  endpoint: string;
  counts: Record<keyof StoreFaults, number>;
  heal(): void; // from now on nothing fails
  close(): Promise<void>;
};

// Reads of streams are left alone, because listeners are promised a second on a store that answers. So are tables that are
// made or described: a server that starts gives up soon, and tries again.
const spoiled =
  /\.(GetItem|Query|PutItem|UpdateItem|DeleteItem|BatchGetItem|BatchWriteItem|TransactWriteItems|TransactGetItems)$/;

const throttling = JSON.stringify({
  __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException',
  message: 'Rate of requests exceeds the allowed throughput.',
});

export async function openFailingStore(
  target: string,
  random: Random,
  faults: StoreFaults = passingStoreFaults,
): Promise<FailingStore> {
  const agent = new Agent({ keepAlive: true });
  const counts = { lostRequests: 0, lostAnswers: 0, throttled: 0 };
  let isHealthy = false;

  const happens = (fault: keyof StoreFaults): boolean => {
    if (isHealthy || random() >= faults[fault]) return false;
    counts[fault] += 1;
    return true;
  };

  function forward(incoming: IncomingMessage, response: ServerResponse, body: Buffer, isLost: boolean): void {
    const outgoing = request(new URL(incoming.url ?? '/', target), {
      method: incoming.method,
      headers: incoming.headers,
      agent,
    });
    outgoing.on('response', answer => {
      if (isLost) {
        answer.resume();
        answer.on('end', () => response.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    outgoing.on('error', () => response.destroy());
    outgoing.end(body);
  }

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', chunk => chunks.push(chunk));
    incoming.on('end', () => {
      const operation = String(incoming.headers['x-amz-target'] ?? '');
      if (!spoiled.test(operation)) return forward(incoming, response, Buffer.concat(chunks), false);
      if (happens('throttled')) {
        response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(throttling);
        return;
      }
      if (happens('lostRequests')) return void response.destroy();
      forward(incoming, response, Buffer.concat(chunks), happens('lostAnswers'));
    });
    incoming.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    heal: () => {
      isHealthy = true;
    },
    async close() {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
      agent.destroy();
    },
  };
}
