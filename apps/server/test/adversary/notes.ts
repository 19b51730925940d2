import type { DynamoClient } from '@stak/table';

export type Written = {
  TableName?: string;
  Key?: Record<string, unknown>;
  Item?: Record<string, unknown>;
  TransactItems?: object[];
  ExpressionAttributeNames?: Record<string, string>;
};

// Every call that reached the store, in the order in which it did.
export const noting = (client: DynamoClient, note: (line: string) => void): DynamoClient =>
  Object.fromEntries(
    Object.entries(client).map(([name, call]) => [
      name,
      typeof call === 'function'
        ? async (input: never) => {
            note(`${name} ${describe(input)}`);
            return call(input);
          }
        : call,
    ]),
  ) as unknown as DynamoClient;

function describe({ TableName, Key, Item, TransactItems }: Written): string {
  if (TransactItems)
    return TransactItems.map(step => Object.values(step).map(one => describe(one as Written))).join(', ');
  const { pk, sk, PK, SK } = (Item ?? {}) as Record<string, unknown>;
  return `${TableName} ${JSON.stringify(Key ?? (Item ? { pk: pk ?? PK, sk: sk ?? SK } : {}))}`;
}

export function describeLog(line: string): string {
  const { msg, err, worker, consumer } = JSON.parse(line);
  return [worker ?? consumer, msg, err?.message].filter(Boolean).join(': ');
}
