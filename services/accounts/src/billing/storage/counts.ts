import type { Clock } from '@stak/kit';
import { type Attributes, type DynamoClient, type ItemOf, recognise, type Store, write } from '@stak/table';
import { count, countsOfAccount, storageTable, type TableState, tableStates, written } from './tables.ts';
import { dayOf } from './written.ts';

export type StorageUse = {
  bytes: number;
  items: number;
  services: { service: string; bytes: number; items: number }[];
  writtenBytes: number; // today, kept or not
  isCounted: boolean; // false until every table was counted once: until then the sum is too low
  isBehind: boolean; // a table is being recounted: changes are added when that is done
};

export const nothingStored: StorageUse = {
  bytes: 0,
  items: 0,
  services: [],
  writtenBytes: 0,
  isCounted: true,
  isBehind: false,
};

export async function readStates(store: Store): Promise<TableState[]> {
  const states: TableState[] = [];
  for await (const state of store.all(tableStates, {})) states.push(state);
  return states;
}

// The storage of an account, as of a second or two ago.
export async function readStorage(
  { store, clock }: { store: Store; clock: Clock },
  tables: readonly string[],
  account_id: string,
  reading: Promise<readonly TableState[]> = readStates(store),
): Promise<StorageUse> {
  const states = await reading;
  const generations = new Map(states.map(({ table, generation }) => [table, generation]));
  const isBehind = states.some(({ holder_until = 0 }) => holder_until > clock.now());
  const services = new Map<string, { service: string; bytes: number; items: number }>();
  const today = dayOf(clock.now());
  let writtenBytes = 0;
  for await (const { entity, item: one } of store.all(countsOfAccount, { account_id })) {
    if (entity === 'written in a day') {
      if (one.day === today) writtenBytes += one.bytes;
      continue;
    }
    if (one.generation !== generations.get(one.table)) continue;
    const sum = services.get(one.service) ?? { service: one.service, bytes: 0, items: 0 };
    sum.bytes += one.bytes;
    sum.items += one.items;
    services.set(one.service, sum);
  }
  const listed = [...services.values()].filter(({ items }) => items > 0);
  return {
    bytes: listed.reduce((sum, count) => sum + count.bytes, 0),
    items: listed.reduce((sum, count) => sum + count.items, 0),
    services: listed.sort((a, b) => (a.service < b.service ? -1 : 1)),
    writtenBytes,
    isCounted: tables.every(table => (generations.get(table) ?? 0) > 0),
    isBehind,
  };
}

export async function eraseCounts(store: Store, account_id: string): Promise<void> {
  const steps = [];
  for await (const { entity, item } of store.all(countsOfAccount, { account_id }))
    steps.push(entity === 'count' ? write.delete(count, item) : write.delete(written, item));
  if (steps.length > 0) await store.batchWrite(steps, { pattern: 'erase storage counts' });
}

export type AccountStorage = { accountId: string; bytes: number; items: number };

// All accounts with storage, largest first. Reads all counts, so it is for operators.
export async function listStorage({
  store,
  client,
}: {
  store: Store;
  client: DynamoClient;
}): Promise<AccountStorage[]> {
  const generations = new Map((await readStates(store)).map(({ table, generation }) => [table, generation]));
  const accounts = new Map<string, AccountStorage>();
  for await (const count of allCounts(client)) {
    if (count.generation !== generations.get(count.table)) continue;
    const { account_id: accountId } = count;
    const sum = accounts.get(accountId) ?? { accountId, bytes: 0, items: 0 };
    sum.bytes += count.bytes;
    sum.items += count.items;
    accounts.set(accountId, sum);
  }
  return [...accounts.values()].sort((a, b) => b.bytes - a.bytes);
}

export async function* allCounts(client: DynamoClient): AsyncGenerator<ItemOf<typeof count>> {
  let ExclusiveStartKey: Attributes | undefined;
  do {
    const page = await client.scan({
      TableName: storageTable.name,
      ...(ExclusiveStartKey && { ExclusiveStartKey }),
    });
    for (const item of page.Items ?? []) {
      const entity = recognise([count], item);
      if (entity) yield entity.item;
    }
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
}
