import type { Attributes, DynamoClient } from '@stak/table';

// Stores that would take hours to fill through a service are filled with copies of items that the service wrote once,
// under other ids.

const perBatch = 25; // of BatchWriteItem
const batchesTogether = 100;

// Replaces a text wherever it occurs in the item's keys and attributes.
export function withText(item: Attributes, from: string, to: string): Attributes {
  const replace = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replaceAll(from, to);
    if (Array.isArray(value)) return value.map(replace);
    if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype)
      return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [replace(name), replace(one)]));
  };
  return replace(item) as Attributes;
}

export async function writeCopies(
  client: DynamoClient,
  tableName: string,
  items: Iterable<Attributes>,
): Promise<void> {
  const batches = inBatches(items);
  const write = async () => {
    for (const batch of batches) {
      const requests = batch.map(Item => ({ PutRequest: { Item } }));
      const { UnprocessedItems } = await client.batchWrite({ RequestItems: { [tableName]: requests } });
      if (Object.keys(UnprocessedItems ?? {}).length > 0) throw new Error('a copy was not written');
    }
  };
  await Promise.all(Array.from({ length: batchesTogether }, write));
}

function* inBatches(items: Iterable<Attributes>): Generator<Attributes[]> {
  let batch: Attributes[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < perBatch) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
