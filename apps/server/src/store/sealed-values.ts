import { looksSealed, SealError, type Sealer } from '@stak/kit';
import type { AnyTable, Attributes, DynamoClient } from '@stak/table';

// All sealed values at rest, in every service: for an operator who changes the key.

type KeyNames = AnyTable['keys'];

export type SealedValue = {
  table: string;
  key: Record<string, string>;
  attribute: string;
  sealed: string;
  locations: readonly string[]; // it is bound to one of these
};

export async function* findSealedValues(
  client: DynamoClient,
  tables: readonly AnyTable[],
): AsyncGenerator<SealedValue> {
  for (const { name: table, keys } of tables)
    for await (const item of scanAll(client, table)) yield* sealedIn(table, keys, item);
}

function* sealedIn(table: string, keys: KeyNames, item: Attributes): Generator<SealedValue> {
  const partition = String(item[keys.partition]);
  const sort = keys.sort === undefined ? '' : String(item[keys.sort]);
  const key = { [keys.partition]: partition, ...(keys.sort !== undefined && { [keys.sort]: sort }) };
  for (const [attribute, value] of Object.entries(item))
    if (typeof value === 'string' && looksSealed(value))
      yield {
        table,
        key,
        attribute,
        sealed: value,
        locations: locationsOf(table, partition, sort, attribute),
      };
}

/** Seals the sealed values of an item with another sealer. Values that cannot be opened stay, and are counted. */
export function resealItem(
  { name, keys }: AnyTable,
  item: Attributes,
  from: Sealer,
  to: Sealer,
): { item: Attributes; unopened: number } {
  let changed = item;
  let unopened = 0;
  for (const value of sealedIn(name, keys, item)) {
    const opened = openValue(from, value);
    if (!opened) unopened += 1;
    else changed = { ...changed, [value.attribute]: to.seal(opened.plain, opened.location) };
  }
  return { item: changed, unopened };
}

async function* scanAll(client: DynamoClient, TableName: string): AsyncGenerator<Attributes> {
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const page = await client.scan({ TableName, ExclusiveStartKey, ConsistentRead: true });
    yield* page.Items ?? [];
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
}

// Services build a location from the table, the item's key and the attribute, each in its own way. A value opens with
// its own location only, so a wrong guess does no harm.
const locationsOf = (table: string, partition: string, sort: string, attribute: string): string[] => [
  `${table}/${partition}/${sort}/${attribute}`, // sessions
  `${table}/${partition}/${Number(sort.replace('KEY#', ''))}/${attribute}`, // signing keys
  `${table}/${sort}/${attribute}`, // sources and connections
  `${table} ${partition} ${sort}`, // channels
  `${table} ${partition} ${sort} ${attribute}`, // skills
];

export const keyIdOf = (sealed: string): string => sealed.split('.')[1]!;

export type Resealed = 'resealed' | 'changed' | 'unopened';

// Seals a value again with the newest key, for the same location. A value that was changed in the meantime is left
// alone.
export async function resealValue(
  client: DynamoClient,
  sealer: Sealer,
  value: SealedValue,
): Promise<Resealed> {
  const opened = openValue(sealer, value);
  if (!opened) return 'unopened';
  const { table, key, attribute, sealed } = value;
  try {
    await client.update({
      TableName: table,
      Key: key,
      UpdateExpression: 'SET #sealed = :new',
      ConditionExpression: '#sealed = :old',
      ExpressionAttributeNames: { '#sealed': attribute },
      ExpressionAttributeValues: { ':new': sealer.seal(opened.plain, opened.location), ':old': sealed },
    });
    return 'resealed';
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ConditionalCheckFailedException') throw error;
    return 'changed';
  }
}

type OpenedValue = { plain: Uint8Array; location: string };

function openValue(sealer: Sealer, { sealed, locations }: SealedValue): OpenedValue | undefined {
  for (const location of locations) {
    const plain = openAt(sealer, sealed, location);
    if (plain) return { plain, location };
  }
  return undefined;
}

function openAt(sealer: Sealer, sealed: string, location: string): Uint8Array | undefined {
  try {
    return sealer.open(sealed, location);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
