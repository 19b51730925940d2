import type { Engine } from '@stak/engine';
import { readItems } from './model.ts';

// The operation of a writer's number is always the same, so the last number of each writer tells what a store should
// hold.

export type Told =
  | { kind: 'done'; writer: number; n: number; at: number }
  | { kind: 'shipped'; until: number; hasSnapshot: boolean };

export const writersPerProcess = 8;
const tableName = 'ledger';
const counterName = 'counters';
const slots = 12;
const counters = 5;

type Operation = { writer: number; n: number; slot: number; isRemoval: boolean; from: number; to: number };

// Mixes the two numbers well enough that neighbours differ.
function mixed(writer: number, n: number, salt: number): number {
  let hash =
    Math.imul(writer + 1, 0x9e3779b1) ^ Math.imul(n + 1, 0x85ebca6b) ^ Math.imul(salt + 1, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 0;
}

export function operationOf(writer: number, n: number): Operation {
  const from = mixed(writer, n, 2) % counters;
  return {
    writer,
    n,
    slot: mixed(writer, n, 0) % slots,
    isRemoval: mixed(writer, n, 1) % 4 === 0,
    from,
    to: (from + 1 + (mixed(writer, n, 3) % (counters - 1))) % counters,
  };
}

const slotKey = (writer: number, slot: number) => `${writer}/${slot}`;
const itemOf = ({ writer, n, slot }: Operation) => ({
  pk: slotKey(writer, slot),
  owner: `owner-${n % 3}`,
  n,
  body: 'x'.repeat(mixed(writer, n, 4) % 300),
});

// A slot, the writer's own last number, and two counters: in two tables, all or nothing.
export function requestOf(operation: Operation) {
  const { writer, n, slot, isRemoval, from, to } = operation;
  const add = (counter: number, units: number) => ({
    Update: {
      TableName: counterName,
      Key: { pk: String(counter) },
      UpdateExpression: 'ADD units :units',
      ExpressionAttributeValues: { ':units': units },
    },
  });
  return {
    TransactItems: [
      isRemoval
        ? { Delete: { TableName: tableName, Key: { pk: slotKey(writer, slot) } } }
        : { Put: { TableName: tableName, Item: itemOf(operation) } },
      { Put: { TableName: tableName, Item: { pk: `last/${writer}`, n } } },
      add(from, -1),
      add(to, 1),
    ],
  };
}

export async function createTables(engine: Engine): Promise<void> {
  const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' });
  const hash = (AttributeName: string) => ({ AttributeName, KeyType: 'HASH' });
  await engine.execute('CreateTable', {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'owner'].map(text),
    KeySchema: [hash('pk')],
    GlobalSecondaryIndexes: [
      { IndexName: 'by-owner', KeySchema: [hash('owner')], Projection: { ProjectionType: 'ALL' } },
    ],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
  });
  await engine.execute('CreateTable', {
    TableName: counterName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [text('pk')],
    KeySchema: [hash('pk')],
  });
}

export async function readLast(engine: Engine, writers: number): Promise<number[]> {
  const items = await readItems(engine, tableName);
  return Array.from({ length: writers }, (_, writer) => Number(items.get(`last/${writer}`)?.n ?? 0));
}

// Lists the differences from what the store should hold after the last operation of each writer.
export async function verify(engine: Engine, last: readonly number[]): Promise<string[]> {
  const wanted = new Map<string, object>();
  const units = Array.from({ length: counters }, () => 0);
  for (const [writer, end] of last.entries()) {
    if (end > 0) wanted.set(`last/${writer}`, { pk: `last/${writer}`, n: end });
    for (let n = 1; n <= end; n++) {
      const operation = operationOf(writer, n);
      const key = slotKey(writer, operation.slot);
      if (operation.isRemoval) wanted.delete(key);
      else wanted.set(key, itemOf(operation));
      units[operation.from]! -= 1;
      units[operation.to]! += 1;
    }
  }
  const problems = engine.check().problems.map(({ message }) => message);
  problems.push(...differences(await readItems(engine, tableName), wanted));
  const indexed = [...wanted].filter(([, item]) => 'owner' in item);
  problems.push(...differences(await readItems(engine, tableName, 'by-owner'), new Map(indexed)));
  const found = await readItems(engine, counterName);
  for (const [counter, count] of units.entries())
    if (Number(found.get(String(counter))?.units ?? 0) !== count)
      problems.push(`counter ${counter} has ${found.get(String(counter))?.units} units instead of ${count}`);
  return problems;
}

function differences(found: Map<string, object>, wanted: Map<string, object>): string[] {
  const textOf = (item: object | undefined) => item && JSON.stringify(Object.entries(item).sort());
  return [...new Set([...found.keys(), ...wanted.keys()])]
    .filter(key => textOf(found.get(key)) !== textOf(wanted.get(key)))
    .map(key => `${key} is ${textOf(found.get(key))} instead of ${textOf(wanted.get(key))}`);
}
