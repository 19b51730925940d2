import { manualClock, seededRandom } from '@stak/kit';
import type { AnyTable, ControlPlane, DynamoClient } from '../../src/index.ts';
import { createStore, type Store, type StoreOptions } from '../../src/index.ts';

export type Target = {
  client: DynamoClient;
  control: ControlPlane;
  close(): Promise<void> | void;
  // dynoxide and ExtendDB give the key as the old image of an item that was not there; DynamoDB gives nothing.
  imagesNothing?: boolean;
  countsHalf?: boolean; // ExtendDB counts writes of a transaction as others, DynamoDB twice
};

export const nowMs = Date.UTC(2030, 0, 1);
export const nowSeconds = nowMs / 1000;

export const storeOf = (target: () => Target, options: Partial<StoreOptions> = {}): Store =>
  createStore({
    client: target().client,
    clock: manualClock(nowMs),
    random: seededRandom(1),
    ...options,
  });

// Fails the first calls of an operation the way a busy DynamoDB does.
export function failing<Operation extends keyof DynamoClient>(
  client: DynamoClient,
  operation: Operation,
  times: number,
  error: () => Error,
): DynamoClient & { failures(): number } {
  let failures = 0;
  const call = client[operation] as (input: object) => Promise<object>;
  return {
    ...client,
    [operation]: async (input: object) => {
      if (failures < times) {
        failures += 1;
        throw error();
      }
      return call(input);
    },
    failures: () => failures,
  };
}

export function awsError(name: string, details: object = {}): Error {
  return Object.assign(new Error(name), { name, ...details });
}

// Sleeps end at once, and are remembered.
export function impatientClock() {
  const slept: number[] = [];
  return {
    slept,
    now: () => nowMs,
    sleep: async (ms: number) => {
      slept.push(ms);
    },
  };
}

export async function emptyTable({ client }: Target, table: AnyTable): Promise<void> {
  const { partition, sort } = table.keys;
  let start: Record<string, unknown> | undefined;
  do {
    const page = await client.scan({ TableName: table.name, ...(start && { ExclusiveStartKey: start }) });
    for (const item of page.Items ?? []) {
      const key = { [partition]: item[partition], ...(sort && { [sort]: item[sort] }) };
      await client.delete({ TableName: table.name, Key: key });
    }
    start = page.LastEvaluatedKey;
  } while (start);
}

export const ann = { tenant_key: 'acme', uid: 'ann', inbox_key: 'main' };
export const messageOf = (id: string, more: object = {}) => ({ ...ann, id, title: `Message ${id}`, ...more });
