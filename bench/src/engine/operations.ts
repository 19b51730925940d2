import type { Operation } from '../harness.ts';
import {
  batches,
  counterKey,
  idAt,
  idempotencyRecord,
  message,
  messageKeyAt,
  mix,
  partitionKey,
  queryLimit,
  type Shape,
  tableName,
} from './data.ts';

export const operationNames = ['put', 'get', 'query', 'update', 'transaction'] as const;
export type OperationName = (typeof operationNames)[number];

// The operations need these calls of a client, with the document client's inputs and outputs.
export type Port = {
  get(input: object): Promise<{ Item?: object }>;
  put(input: object): Promise<object>;
  query(input: object): Promise<{ Items?: object[] }>;
  update(input: object): Promise<object>;
  transactWrite(input: object): Promise<object>;
  batchWrite(input: object): Promise<{ UnprocessedItems?: object }>;
};

const sampleSize = 20_000;

// The same reads for every size of store, so that only the store differs, not the reader's memory.
export const sampleMessages = (shape: Shape) =>
  Array.from({ length: Math.min(sampleSize, shape.messages) }, (_, i) =>
    messageKeyAt(shape, mix(i + 1) % shape.messages),
  );

// New messages, with the current time, for any user.
export function createArrivals({ users }: Shape): () => Arrival {
  let count = 0;
  return () => {
    const atMs = Date.now();
    count++;
    return { user: mix(count) % users, id: idAt(atMs, count), atMs, category: count };
  };
}

export type Arrival = { user: number; id: string; atMs: number; category: number };

export const putInput = ({ user, id, atMs, category }: Arrival) => ({
  TableName: tableName,
  Item: message(user, id, atMs, category),
});

export const updateInput = (user: number) => ({
  TableName: tableName,
  Key: counterKey(user),
  UpdateExpression: 'ADD unread :one',
  ExpressionAttributeValues: { ':one': 1 },
});

const queryInput = (user: number) => ({
  TableName: tableName,
  KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
  ExpressionAttributeValues: { ':pk': partitionKey(user), ':sk': 'MSG#' },
  ScanIndexForward: false,
  Limit: queryLimit,
});

export const transactionInput = (arrival: Arrival) => ({
  TransactItems: [
    { Put: putInput(arrival) },
    { Update: updateInput(arrival.user) },
    {
      Put: {
        TableName: tableName,
        Item: idempotencyRecord(arrival.id, arrival.user),
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
  ],
});

export function createOperations(port: Port, shape: Shape): Record<OperationName, Operation> {
  const keys = sampleMessages(shape).map(({ user, id }) => ({ pk: partitionKey(user), sk: `MSG#${id}` }));
  const arrive = createArrivals(shape);
  let turn = 0;
  const anyUser = () => mix(turn++) % shape.users;

  return {
    put: () => port.put(putInput(arrive())),
    async get() {
      const Key = keys[turn++ % keys.length]!;
      const { Item } = await port.get({ TableName: tableName, Key });
      if (!Item) throw new Error(`lost ${Key.pk} ${Key.sk}`);
    },
    async query() {
      const { Items } = await port.query(queryInput(anyUser()));
      if (Items?.length !== queryLimit) throw new Error(`a query found ${Items?.length} messages`);
    },
    update: () => port.update(updateInput(anyUser())),
    transaction: () => port.transactWrite(transactionInput(arrive())),
  };
}

export async function load(port: Pick<Port, 'batchWrite'>, shape: Shape, inFlight: number): Promise<void> {
  const queue = batches(shape);
  const writer = async () => {
    for (const items of queue) {
      const { UnprocessedItems } = await port.batchWrite({
        RequestItems: { [tableName]: items.map(Item => ({ PutRequest: { Item } })) },
      });
      if (Object.keys(UnprocessedItems ?? {}).length > 0) throw new Error('a batch was not written whole');
    }
  };
  await Promise.all(Array.from({ length: inFlight }, writer));
}
