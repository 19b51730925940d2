import { randomBytes } from 'node:crypto';
import { type Client, createClient } from '@stak/client';
import { createEngine } from '@stak/engine';
import { createLogger, createSealer, systemClock } from '@stak/kit';
import { createTables, type DynamoClient } from '@stak/table';
import { todoAppData } from '@stak/tasks';
import { expect } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';
import { serverStreamsTable } from '../src/store/presence.ts';
import { consumersBehind } from './consumers-behind.ts';

export const newKeys = () => `k1:${randomBytes(32).toString('base64')}`;
const person = { email: 'you@example.com', password: 'a long enough password', name: 'You', cookie: false };

export type Store = { path?: string; env: Record<string, string> };

export async function withServer(
  { path, env }: Store,
  work: (client: Client, baseUrl: string) => Promise<void>,
): Promise<void> {
  const config = readServerConfig(
    { port: 0, demo: false, ...(path !== undefined && { path }) },
    { STAK_LAKE: 'off', STAK_OUTBOUND_ALLOW: '127.0.0.0/8', STAK_PUBLIC_URL: 'http://127.0.0.1', ...env },
  );
  const server = await startServer(config, {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  try {
    const { email, password } = person;
    const { accounts } = createClient({ baseUrl: server.localUrl });
    const { data } = await accounts
      .logIn({ body: { email, password, cookie: false } })
      .catch(() => accounts.signUp({ body: person }));
    await work(createClient({ baseUrl: server.localUrl, token: data.access_token }), server.localUrl);
    const isCounting = (name: string) => name.startsWith('storage-'); // an export does not wait for it
    await expect
      .poll(async () => (await consumersBehind(config.store)).filter(name => !isCounting(name)))
      .toEqual([]);
  } finally {
    await server.stop();
  }
}

export const tables = [todoAppData];
export const targetTables = [...tables, serverStreamsTable]; // where a store says what is imported into it
export const sealer = createSealer({ keys: [{ id: 'k1', secret: randomBytes(32) }] });
export const { now } = systemClock;

export async function openEngine(items: number) {
  const engine = await createEngine({ path: ':memory:' });
  await createTables(engine, tables);
  const { partition, sort } = todoAppData.keys;
  for (let n = 0; n < items; n++)
    await engine.client.put({
      TableName: todoAppData.name,
      Item: { [partition]: `p${n % 7}`, [sort!]: `s${n}`, text: 'x'.repeat(200), n },
    });
  return engine;
}

export const countOf = async (client: DynamoClient) =>
  ((await client.scan({ TableName: todoAppData.name, Select: 'COUNT' } as never)) as { Count?: number })
    .Count;

export const importInto = (target: Awaited<ReturnType<typeof createEngine>>, from: string) => ({
  client: target.client,
  control: target,
  tables: targetTables,
  folder: from,
  sealer,
  clock: systemClock,
});

// A store that stops answering.
export function failingAfter(client: DynamoClient, calls: number): DynamoClient {
  let left = calls;
  return new Proxy(client, {
    get(target, name: keyof DynamoClient) {
      const method = target[name];
      if (typeof method !== 'function') return method;
      return (input: never) => {
        left -= 1;
        if (left < 0) throw new Error('gone');
        return (method as (input: never) => unknown).call(target, input);
      };
    },
  });
}
