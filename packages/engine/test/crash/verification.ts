import { isDeepStrictEqual } from 'node:util';
import type { Engine, NativeItem } from '../../src/index.ts';
import { type Change, keyText, readChanges, readItems } from './history.ts';
import type { Entry } from './journal.ts';
import { indexes, lateIndex } from './tables.ts';
import {
  counterCount,
  counterKey,
  type Operation,
  tableName,
  unitsPerCounter,
  type Write,
} from './workload.ts';

// After a crash: does the store hold everything that was acknowledged, and of the rest all or nothing?

export async function verifyData(engine: Engine, operations: Entry<Operation>[]): Promise<string[]> {
  const items = await readItems(engine);
  const changes = await readChanges(engine);
  return [
    ...checkStream(changes, items),
    ...checkOperations(operations, changes, items),
    ...checkSum(items),
    ...(await checkIndexes(engine, items)),
    ...checkStore(engine),
  ];
}

// The records, replayed, give the table: each starts from the image that the one before it left.
function checkStream(changes: Change[], items: Map<string, NativeItem>): string[] {
  const problems: string[] = [];
  const replayed = new Map<string, NativeItem>();
  let last = -1n;
  for (const { sequence, key, before, after, byService } of changes) {
    const name = keyText(key);
    if (sequence <= last) problems.push(`the stream goes back at ${sequence}`);
    last = sequence;
    if (!isDeepStrictEqual(replayed.get(name), before)) problems.push(`a change of ${name} is not recorded`);
    if (byService && (after || !isExpired(before))) problems.push(`${name} was removed before its time`);
    if (after) replayed.set(name, after);
    else replayed.delete(name);
  }
  return [...problems, ...differences('the replayed stream', replayed, items)];
}

const isExpired = (item: NativeItem | undefined): boolean => item?.expires < Date.now() / 1000;

function checkOperations(
  operations: Entry<Operation>[],
  changes: Change[],
  items: Map<string, NativeItem>,
): string[] {
  const problems: string[] = [];
  const records = countRecords(changes);
  const model = createModel();
  for (const { intent, done } of operations) {
    const found = intent.writes.map(write => records.get(model.trace(write, intent.id)) ?? 0);
    if (found.some(count => count > 1)) problems.push(`${intent.kind} ${intent.id} was applied twice`);
    const applied = intent.writes.filter((write, i) => found[i]! > 0 || model.isVoid(write)).length;
    if (done && applied < intent.writes.length) {
      problems.push(`${intent.kind} ${intent.id} was acknowledged and is lost`);
    } else if (applied > 0 && applied < intent.writes.length) {
      problems.push(`${intent.kind} ${intent.id} was half written`);
    }
    if (applied > 0) for (const write of intent.writes) model.apply(write);
  }
  for (const { key, byService } of changes) if (byService) model.items.delete(keyText(key));
  return [...problems, ...differences('the acknowledged writes', model.items, withoutTraces(items))];
}

// How often each operation is seen to have written each item; a removal by the operation whose item it removed.
function countRecords(changes: Change[]): Map<string, number> {
  const records = new Map<string, number>();
  for (const { key, before, after } of changes) {
    const trace = after
      ? `${keyText(key)} written by ${after.op}`
      : `${keyText(key)} removed from ${before?.op}`;
    records.set(trace, (records.get(trace) ?? 0) + 1);
  }
  return records;
}

function createModel() {
  const items = new Map<string, NativeItem>();
  for (let counter = 0; counter < counterCount; counter++) {
    const key = counterKey(counter);
    items.set(keyText(key), { ...key, units: unitsPerCounter });
  }

  const trace = (write: Write, op: string): string =>
    write.kind === 'remove'
      ? `${keyText(write.key)} removed from ${items.get(keyText(write.key))?.op}`
      : `${keyText(write.key)} written by ${op}`;

  function apply(write: Write): void {
    const name = keyText(write.key);
    if (write.kind === 'remove') items.delete(name);
    else if (write.kind === 'put') items.set(name, write.item);
    else items.set(name, { ...write.key, units: (items.get(name)?.units ?? 0) + write.amount });
  }

  // Removing what is not there changes nothing and leaves no record.
  const isVoid = (write: Write): boolean => write.kind === 'remove' && !items.has(keyText(write.key));
  return { items, trace, apply, isVoid };
}

// The store decides which of the concurrent additions came last.
function withoutTraces(items: Map<string, NativeItem>): Map<string, NativeItem> {
  const plain = new Map(items);
  for (const [name, { op: _, ...item }] of items) if ('units' in item) plain.set(name, item);
  return plain;
}

function checkSum(items: Map<string, NativeItem>): string[] {
  let sum = 0;
  for (let counter = 1; counter < counterCount; counter++)
    sum += items.get(keyText(counterKey(counter)))?.units;
  const expected = (counterCount - 1) * unitsPerCounter;
  return sum === expected ? [] : [`the counters add up to ${sum}, not ${expected}`];
}

async function checkIndexes(engine: Engine, items: Map<string, NativeItem>): Promise<string[]> {
  const problems: string[] = [];
  const late = (await hasLateIndex(engine)) ? { [lateIndex]: 'late' } : {};
  for (const [index, attribute] of Object.entries({ ...indexes, ...late })) {
    const found = [...(await readItems(engine, index)).keys()].sort();
    const expected = [...items].filter(([, item]) => item[attribute] !== undefined).map(([name]) => name);
    if (!isDeepStrictEqual(found, expected.sort())) {
      problems.push(`${index} has ${found.length} entries for ${expected.length} items`);
    }
  }
  return problems;
}

export async function hasLateIndex(engine: Engine): Promise<boolean> {
  const { Table } = (await engine.execute('DescribeTable', { TableName: tableName })) as {
    Table: { GlobalSecondaryIndexes: { IndexName: string }[] };
  };
  return Table.GlobalSecondaryIndexes.some(index => index.IndexName === lateIndex);
}

export function checkStore(engine: Engine): string[] {
  return engine.check().problems.map(({ kind, message, key }) => `check: ${kind} ${message} (${key})`);
}

function differences(
  what: string,
  expected: Map<string, NativeItem>,
  found: Map<string, NativeItem>,
): string[] {
  const names = new Set([...expected.keys(), ...found.keys()]);
  return [...names].flatMap(name => {
    if (isDeepStrictEqual(expected.get(name), found.get(name))) return [];
    const [says, is] = [expected.get(name), found.get(name)].map(item => JSON.stringify(item)?.slice(0, 200));
    return `${name}: ${what} say ${says}, the table ${is}`;
  });
}
