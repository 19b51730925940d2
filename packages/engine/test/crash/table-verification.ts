import { setImmediate } from 'node:timers/promises';
import type { Engine } from '../../src/index.ts';
import type { Control, Entry } from './journal.ts';
import { dropLateIndex, dropTable, lateIndex } from './tables.ts';
import { checkStore, hasLateIndex } from './verification.ts';
import { tableName } from './workload.ts';

// Tables and indexes after a crash and once the unfinished work was taken up: there or not there, never between.

export async function verifyTables(engine: Engine, controls: Entry<Control>[]): Promise<string[]> {
  const tables = new Set((await describeAll(engine)).map(({ TableName }) => TableName));
  if (await hasLateIndex(engine)) tables.add(lateIndex);
  return [
    ...(await checkStates(engine)),
    ...checkExistence(controls, tables),
    ...checkLoads(engine, controls),
  ];
}

type Description = {
  TableName: string;
  TableStatus: string;
  GlobalSecondaryIndexes: { IndexName: string; IndexStatus: string }[];
};

async function describeAll(engine: Engine): Promise<Description[]> {
  const { TableNames } = (await engine.execute('ListTables', {})) as { TableNames: string[] };
  const described = TableNames.map(async TableName => {
    const { Table } = (await engine.execute('DescribeTable', { TableName })) as { Table: Description };
    return Table;
  });
  return Promise.all(described);
}

async function checkStates(engine: Engine): Promise<string[]> {
  const problems: string[] = [];
  for (const { TableName, TableStatus, GlobalSecondaryIndexes } of await describeAll(engine)) {
    if (TableStatus !== 'ACTIVE') problems.push(`the table ${TableName} is ${TableStatus}`);
    for (const { IndexName, IndexStatus } of GlobalSecondaryIndexes) {
      if (IndexStatus !== 'ACTIVE') problems.push(`the index ${IndexName} of ${TableName} is ${IndexStatus}`);
    }
    const { TimeToLiveDescription: ttl } = (await engine.execute('DescribeTimeToLive', { TableName })) as {
      TimeToLiveDescription: { TimeToLiveStatus: string };
    };
    if (!['ENABLED', 'DISABLED'].includes(ttl.TimeToLiveStatus)) {
      problems.push(`the TTL of ${TableName} is ${ttl.TimeToLiveStatus}`);
    }
  }
  return problems;
}

const creations = ['create-table', 'add-index'];
const removals = ['drop-table', 'drop-index'];

function checkExistence(controls: Entry<Control>[], existing: Set<string>): string[] {
  const last = new Map<string, Entry<Control>>();
  for (const entry of controls) {
    if ([...creations, ...removals].includes(entry.intent.action)) last.set(entry.intent.target, entry);
  }
  return [...last.values()].flatMap(({ intent: { action, target }, done }) => {
    if (!done || existing.has(target) === creations.includes(action)) return [];
    return `${action} ${target} was acknowledged and is undone`;
  });
}

function checkLoads(engine: Engine, controls: Entry<Control>[]): string[] {
  const sizes = new Map(engine.stats().tables.map(({ name, items }) => [name, items]));
  return controls.flatMap(({ intent: { action, target }, done }) => {
    const size = sizes.get(target);
    if (action !== 'load' || !done || size === undefined || size === 1200) return [];
    return `${target} was loaded and has ${size} items`;
  });
}

// Leaves only the main table behind, and nothing of the others.
export async function removeScratch(engine: Engine): Promise<string[]> {
  if (await hasLateIndex(engine)) await dropLateIndex(engine);
  for (const { TableName } of await describeAll(engine)) {
    if (TableName !== tableName) await dropTable(engine, TableName);
  }
  await engine.settled();
  await setImmediate();
  const [table] = engine.stats().tables;
  const stored = engine.check().items;
  const left = stored === table!.items ? [] : [`${stored - table!.items} items of dropped tables are left`];
  return [...left, ...checkStore(engine)];
}
