import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Arrival, type Command, monotonicMs } from './destination.ts';

// Receives webhooks. `/fast` responds at once, `/slow/…` after a while, `/flaky/…` with 500 until it is healed.

const slowMs = 9000; // Stak waits for ten seconds
const mark = /"mark":"([^"]+)"/;

let arrivals: Arrival[] = [];
let received = 0;
let isHealed = false;

const listen = async (): Promise<string> => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    request.on('end', async () => {
      const atMs = monotonicMs();
      received += 1;
      const match = mark.exec(Buffer.concat(chunks).toString('latin1'));
      if (match && request.url === '/fast') arrivals.push([match[1]!, atMs]);
      if (request.url!.startsWith('/slow')) await sleep(slowMs);
      const isFailing = request.url!.startsWith('/flaky') && !isHealed;
      response.writeHead(isFailing ? 500 : 200, { 'Content-Length': '2' }).end('ok');
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const urls: string[] = [];
for (let i = 0; i < Number(process.argv[2]); i++) urls.push(await listen());
process.send!(urls);

process.on('message', (command: Command) => {
  if (command === 'heal') isHealed = true;
  process.send!({ received, arrivals: command === 'take' ? arrivals : [] });
  if (command === 'take') arrivals = [];
});
process.once('disconnect', () => process.exit());
