import { createClient } from '@stak/client';
import { type Clock, createLogger, systemClock } from '@stak/kit';
import type { Attributes } from '@stak/table';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';
import { accountTables } from '../src/store/archive/account.ts';
import { keyIn } from '../src/store/archive/import.ts';
import { openDatabase } from '../src/store/database.ts';
import { type Fixture, send } from './walk/fixture.ts';
import { requestOf, tokenOf } from './walk/step.ts';
import { steps } from './walk/steps.ts';

const isOfServer = /^(?:accounts|lake|tables)\./;

// Makes everything that the owner makes in the walk, until they take their leave.
export async function makeEverything(fixture: Fixture): Promise<void> {
  const last = steps.findIndex(({ operation }) => operation === 'tenants.delete');
  for (const step of steps.slice(0, last)) {
    const operation = fixture.operations.find(({ id }) => id === step.operation);
    if (!operation || operation.method === 'DELETE' || isOfServer.test(operation.id)) continue;
    const token = tokenOf(fixture, step, 'owner');
    const answer = await send(fixture.server.url, { ...requestOf(fixture, step), ...(token && { token }) });
    step.keep?.(fixture, answer);
  }
}

export type Items = Map<string, Attributes>;

export async function itemsIn(path: string): Promise<Items> {
  const { client, close } = await openDatabase({ kind: 'embedded', path }, { isSecondary: true });
  const items: Items = new Map();
  for (const table of accountTables) {
    let ExclusiveStartKey: Attributes | undefined;
    do {
      const page = await client.scan({
        TableName: table.name,
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
      });
      for (const item of page.Items ?? [])
        items.set(`${table.name} ${Object.values(keyIn(table, item)).join(' ')}`, item);
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
  }
  await close();
  return items;
}

// Days go by in minutes, so that what waits for its grace to end does not wait here.
export const quickClock = (): Clock => {
  const since = systemClock.now();
  const now = () => since + (systemClock.now() - since) * 100;
  return { ...systemClock, now, sleep: (ms, signal) => systemClock.sleep(ms / 100, signal) };
};

export async function withServer(
  path: string,
  keys: string,
  work: (baseUrl: string) => Promise<void>,
  clock?: Clock,
): Promise<void> {
  const config = readServerConfig(
    { port: 0, demo: false, path },
    { STAK_LAKE: 'off', STAK_SECRET_KEYS: keys, STAK_REQUESTS_PER_MINUTE: '100000' },
  );
  const server = await startServer(config, {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
    ...(clock && { clock }),
  });
  try {
    await work(server.localUrl);
  } finally {
    await server.stop();
  }
}

export async function logIn(baseUrl: string, { email, password }: { email: string; password: string }) {
  const { accounts } = createClient({ baseUrl });
  const { data } = await accounts.logIn({ body: { email, password, cookie: false } });
  return createClient({ baseUrl, token: data.access_token });
}
