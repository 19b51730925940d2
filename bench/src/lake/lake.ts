import { join } from 'node:path';
import { createEngine, type Engine } from '@stak/engine';
import type { AccountPrincipal } from '@stak/http';
import { type Clock, createIds, createLogger, createSealer, systemClock, type Worker } from '@stak/kit';
import { createLake, type FollowedTable, folderObjects, follow } from '@stak/lake';
import { createConsumer, engineSource, streamsTable } from '@stak/streams';
import { createLedger, createStore, createTables } from '@stak/table';
import { task, taskInsights, todoAppData } from '@stak/tasks';

export const tableName = todoAppData.name;
export const insightName = 'tasks-by-status';

const accountId = 'usr_bench';
// Owns everything.
const owner: AccountPrincipal = {
  kind: 'account',
  accountId,
  scope: 'read',
  via: 'api_key',
  credentialId: 'bench',
};
const followed: FollowedTable = {
  table: todoAppData,
  entities: [follow(task, { view: 'tasks', ownerOf: () => ({ account_id: accountId }) })],
  ignore: todoAppData.entities.filter(entity => entity !== task),
};

export type OpenLake = Awaited<ReturnType<typeof openLake>>;

// An engine with the tasks' table and a lake that follows it. The table has no indexes: neither a scan nor the stream
// reads them, and writing a million tasks takes half the time without.
export async function openLake(folder: string, clock: Clock = systemClock, hasIceberg = true) {
  const engine = await createEngine({ path: join(folder, 'data'), sweepIntervalMs: 0, clock });
  await createTables(engine, [streamsTable]);
  await createTaskTable(engine);
  const ledger = createLedger();
  const log = createLogger({ level: 'warn' });
  const { client } = engine;
  const source = engineSource(engine);
  const lake = createLake({
    store: createStore({ client, clock, ledger }),
    clock,
    ids: createIds({ clock }),
    log,
    client,
    source,
    objects: folderObjects(join(folder, 'lake')),
    scratch: join(folder, 'scratch'),
    tables: [followed],
    insights: taskInsights,
    ...(!hasIceberg && { icebergMs: Number.POSITIVE_INFINITY }),
    tenantsOf: async () => [],
    sealer: createSealer({ keys: [{ id: 'one', secret: 'a secret that is long enough for a seal' }] }),
    publicUrl: 'http://127.0.0.1',
  });
  const [subscription] = lake.subscriptions;
  return {
    client,
    ledger,
    capture: createConsumer({ subscription: subscription!, source, client, log, clock }) as Worker,
    maintenance: lake.workers[0]!,
    // Everything that maintenance does.
    async keepAll(): Promise<void> {
      while (await lake.keep(tableName));
    },
    async status() {
      const [status] = (await lake.status()).tables;
      return status!;
    },
    async readInsight(): Promise<number> {
      const { data } = await lake.insight(owner, insightName, 30);
      return data.reduce((sum, { tasks }) => sum + Number(tasks), 0);
    },
    setStream: (isOn: boolean) => setStream(engine, isOn),
    async close() {
      lake.close();
      await engine.close();
    },
  };
}

async function createTaskTable(engine: Engine): Promise<void> {
  const { TableNames } = (await engine.execute('ListTables', {})) as { TableNames: string[] };
  if (TableNames.includes(tableName)) return;
  const attribute = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' });
  await engine.execute('CreateTable', {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [attribute('PK'), attribute('SK')],
    KeySchema: [
      { AttributeName: 'PK', KeyType: 'HASH' },
      { AttributeName: 'SK', KeyType: 'RANGE' },
    ],
  });
}

async function setStream(engine: Engine, isOn: boolean): Promise<void> {
  const StreamSpecification = {
    StreamEnabled: isOn,
    ...(isOn && { StreamViewType: 'NEW_AND_OLD_IMAGES' }),
  };
  await engine.execute('UpdateTable', { TableName: tableName, StreamSpecification });
}
