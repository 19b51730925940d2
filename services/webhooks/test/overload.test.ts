import { setImmediate } from 'node:timers/promises';
import type { DynamoClient } from '@stak/table';
import { expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { openDestination } from './destination.ts';
import { type Fixture, openWebhooks, until, untilLater } from './webhooks-fixture.ts';

const owedLimits = { delayed: 8, most: 24 };

// No result is written until it is opened.
function holdResults() {
  let open = () => {};
  const opened = new Promise<void>(resolve => (open = resolve));
  const wrap = (client: DynamoClient): DynamoClient => ({
    ...client,
    async transactWrite(input) {
      const isResult = input.TransactItems.some(
        item => 'Put' in item && String(item.Put.Item.SK).startsWith('ATT#'),
      );
      if (isResult) await opened;
      return client.transactWrite(input);
    },
  });
  return { open, wrap };
}

async function openSource(hooks: Fixture, url: string) {
  const sourceId = await hooks.source();
  await hooks.connect(sourceId, url, { maxConcurrency: limits.concurrencyMost });
  return sourceId;
}

it('delays requests while results are not written, and refuses them when there are too many', async () => {
  const { open, wrap } = holdResults();
  const hooks = await openWebhooks({ wrap, owedLimits });
  const destination = await openDestination();
  const sourceId = await openSource(hooks, destination.url);
  const responses: Response[] = [];
  let sent = 0;
  const send = async () => {
    sent += 1;
    responses.push(await hooks.ingest(sourceId));
  };
  // A few at a time, until their deliveries have arrived.
  const sendUntil = async (owed: number) => {
    while (hooks.webhooks.owed() < owed) {
      for (let i = 0; i < 4; i++) void send();
      await untilLater(hooks.clock, () => responses.length >= sent, limits.loadWaitMs / 4);
      await until(() => destination.hits.length >= sent);
      for (let i = 0; i < 10; i++) await setImmediate();
    }
  };
  await send(); // a new connection gets one request at a time
  await until(() => destination.hits.length === sent);
  await sendUntil(owedLimits.delayed);
  void send();
  for (let i = 0; i < 50; i++) await setImmediate();
  expect(responses.length).toBeLessThan(sent); // it has to wait
  await sendUntil(owedLimits.most);
  expect(responses.map(({ status }) => status)).not.toContain(429);

  void send();
  await untilLater(hooks.clock, () => responses.length === sent, limits.loadWaitMs / 4);
  const refused = responses.at(-1)!;
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
  expect(await refused.json()).toMatchObject({ code: 'webhooks.rate_limited' });
  open();
  await until(() => hooks.webhooks.owed() < owedLimits.delayed);
  expect((await hooks.ingest(sourceId)).status).toBe(200);
});

it('delays no request because of a destination that does not answer', async () => {
  const hooks = await openWebhooks({ owedLimits });
  const pending: (() => void)[] = [];
  const destination = await openDestination((_, response) => {
    pending.push(() => void response.writeHead(200).end());
  });
  const sourceId = await openSource(hooks, destination.url);
  for (let i = 0; i < 4 * owedLimits.most; i++) await hooks.send(sourceId);
  expect(hooks.webhooks.owed()).toBe(0);
  for (const end of pending) end();
});
