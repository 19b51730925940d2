import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { measureServer } from '../src/server/rounds.ts';

const server = createServer((_, response) => setTimeout(() => response.end(), 50));
afterEach(() => void server.close());

// A round lasts until its last call is answered, which may be much longer than planned.
it('divides the processor time by the calls that were made', async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  let spentUs = 0;
  const { slow } = await measureServer({
    server: {
      url: `http://127.0.0.1:${port}`,
      pid: process.pid,
      cpuUs: async () => (spentUs += 1000),
      close: async () => {},
    },
    operations: { slow: { requests: [{ method: 'GET', path: '/' }], status: 200 } },
    names: ['slow'],
    inFlight: 2,
    plan: { rounds: 1, roundMs: 5, warmUpMs: 5 },
  });
  expect(slow.cpuUs).toBe(500);
});
