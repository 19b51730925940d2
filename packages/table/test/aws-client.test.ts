import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStore, defineTable, entity, isUnavailable } from '@stak/table';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { awsClient } from '../src/client/aws-client.ts';
import { isUnanswered } from '../src/client/retry.ts';

const problem = (type: string) => `{"__type":"com.amazonaws.dynamodb.v20120810#${type}","message":"x"}`;

// A server answers a request with a status and a body, hangs up, or does nothing.
type Fault = { status: number; body: string } | 'resets' | 'hangs' | 'stops in the middle';

async function openServer(fault: Fault, answerMs?: number) {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      requests += 1;
      if (fault === 'resets') request.socket.resetAndDestroy();
      else if (fault === 'stops in the middle') response.writeHead(200, { 'content-length': 99 }).write('{');
      else if (fault !== 'hangs')
        response.writeHead(fault.status, { 'content-type': 'application/x-amz-json-1.0' }).end(fault.body);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
  const client = awsClient({ region: 'us-east-1', endpoint, credentials, answerMs });
  onTestFinished(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  return { client, requests: () => requests };
}

const addition = {
  TableName: 'any',
  Key: { pk: 'a' },
  UpdateExpression: 'ADD n :one',
  ExpressionAttributeValues: { ':one': 1 },
};

it.each<[string, Fault]>([
  ['breaks', 'resets'],
  ['hangs', 'hangs'],
  ['stops in the middle of an answer', 'stops in the middle'],
  ['fails', { status: 500, body: problem('InternalServerError') }],
  ['is behind something that fails', { status: 503, body: 'no gateway' }],
])('calls a server that %s once, and reports the missing response', async (_, fault) => {
  const { client, requests } = await openServer(fault, 300);
  expect(isUnanswered(await client.update(addition).catch((error: unknown) => error))).toBe(true);
  expect(requests()).toBe(1);
});

const things = defineTable({ name: 'things', keys: { partition: 'pk' } });
const thing = entity(things, {
  name: 'thing',
  schema: z.object({ id: z.string(), n: z.int().optional() }),
  key: { partition: '{id}' },
});

describe.each<[string, Fault]>([
  ['resets', 'resets'],
  ['hangs', 'hangs'],
  ['stops in the middle of an answer', 'stops in the middle'],
  ['fails', { status: 500, body: problem('InternalServerError') }],
  ['throttles', { status: 400, body: problem('ThrottlingException') }],
  ['limits', { status: 400, body: problem('ProvisionedThroughputExceededException') }],
])('a store whose server %s', (_, fault) => {
  it('fails within a bounded time, after a bounded number of calls', async () => {
    const { client, requests } = await openServer(fault, 60);
    const store = createStore({ client, random: () => 0.1 });
    const startedAt = performance.now();
    const errors = await Promise.all(
      [
        store.get(thing, { id: 'a' }),
        store.put(thing, { id: 'a' }),
        store.update(thing, { id: 'a' }, { add: { n: 1 } }, { upsert: true }),
        store.update(thing, { id: 'a' }, { add: { n: 1 } }, { upsert: true, returns: 'old' }),
      ].map(work => work.catch((reason: unknown) => reason)),
    );
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'table.busy', details: { retryAfterS: 1 } });
      expect(isUnavailable(error)).toBe(true);
    }
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(requests()).toBeLessThanOrEqual(4 * 8);
  });
});

it('does not wait longer than its deadline, however slow each response is', async () => {
  const { client, requests } = await openServer('hangs', 300);
  let now = 0;
  const clock = {
    now: () => now,
    sleep: async () => {
      now += 3_500;
    },
  };
  const store = createStore({ client, clock });
  await expect(store.get(thing, { id: 'a' })).rejects.toMatchObject({ code: 'table.busy' });
  expect(requests()).toBe(3);
});
