import { type Clock, systemClock } from '@stak/kit';
import type { ControlPlane } from '../client/client.ts';
import { isUnavailable } from '../client/retry.ts';
import { tableErrors } from '../errors.ts';
import type { AnyTable } from './table.ts';
import {
  type GlobalIndex,
  globalIndexes,
  keySchema,
  mismatches,
  type TableDescription,
  tableRequest,
  vectorIndexes,
} from './table-request.ts';

/** The changes that `createTables` made to a table. */
export type TableReport = { table: string; done: string[] };

const pollMs = 500; // on AWS, a table is ready in seconds and an index in minutes
const attempts = 5; // of servers that start at the same time, on one table
const recoveryAttempts = 60;
// DynamoDB Local and others do not support it; the role of a server may not allow it.
const isHelpless = /^(UnknownOperation|AccessDenied|NotImplemented|ContinuousBackupsUnavailable)/;
// A store answers with one of these if it does not know a field, or knows nothing in an update.
const lacksVectors = /^(UnknownOperation|NotImplemented|Serialization|Validation)/;
const waitMs = 30 * 60_000; // the backfill of a large index takes time; after this, something is wrong

type Progress = (table: string, what: string) => void;
type CreateOptions = {
  clock?: Clock;
  progress?: Progress;
  // Whether to enable point-in-time recovery. If the store does not support it, or the caller may not enable it, the
  // report says so and the work continues.
  recovery?: boolean;
  // Whether items of new tables expire. Default: true.
  expiry?: boolean;
  // Read and write units a second that a new table and each of its indexes take at once. On AWS it is billed once.
  warmUnits?: number;
};
type Creation = Required<Pick<CreateOptions, 'clock' | 'progress' | 'expiry'>> & {
  control: ControlPlane;
  warmUnits?: number;
};

/**
 * Brings tables to their designs: creates what is missing, and throws if an existing table contradicts its design.
 * Nothing is ever removed.
 *
 *     await createTables(engine, [notes]);
 */
export async function createTables(
  control: ControlPlane,
  tables: readonly AnyTable[],
  {
    clock = systemClock,
    progress = () => {},
    recovery = false,
    expiry = true,
    warmUnits,
  }: CreateOptions = {},
): Promise<TableReport[]> {
  const reports: TableReport[] = [];
  for (const table of tables) {
    const done: string[] = [];
    const note: Progress = (name, what) => {
      done.push(what);
      progress(name, what);
    };
    const work: Creation = { control, clock, progress: note, expiry, ...(warmUnits && { warmUnits }) };
    await bringToDesign(work, table);
    if (recovery) await enableRecovery(work, table.name);
    reports.push({ table: table.name, done });
  }
  return reports;
}

// Servers that start at the same time bring the same table to the same design. A server that finds the table being
// changed, or requests a change just made, checks again what is left to do.
async function bringToDesign(work: Creation, table: AnyTable): Promise<void> {
  for (let left = attempts; ; left--)
    try {
      return await createTable(work, table);
    } catch (error) {
      if (left === 1) throw error;
      // Some stores also return this if two changes conflict.
      if (isUnavailable(error)) {
        await work.clock.sleep(pollMs);
        continue;
      }
      const name = error instanceof Error ? error.name : '';
      if (!(name === 'ResourceInUseException' || name === 'ValidationException')) throw error;
      // DynamoDB refuses the design, and no other server has created the table.
      if (!(await describeTable(work.control, table.name))) throw error;
      await untilActive(work, table.name);
    }
}

async function createTable(work: Creation, table: AnyTable): Promise<void> {
  const { control, progress } = work;
  const described = await describeTable(control, table.name);
  if (described) {
    await untilActive(work, table.name);
    const differences = mismatches(table, described);
    if (differences.length > 0)
      throw tableErrors.create(
        'table.design_mismatch',
        `${table.name} is not the table of its design: ${differences.join('; ')}`,
        { differences },
      );
    await addIndexes(work, table, described);
    await addStream(work, table, described);
  } else {
    progress(table.name, 'create the table');
    await control.execute('CreateTable', tableRequest(table, work.warmUnits));
    await untilActive(work, table.name);
  }
  await addVectorIndexes(work, table);
  if (work.expiry) await enableTtl(work, table);
}

// Stores that do not have them refuse them, or ignore what they do not know.
async function addVectorIndexes({ control, progress, clock }: Creation, table: AnyTable): Promise<void> {
  const namesIn = (found: TableDescription | undefined) =>
    found?.VectorIndexes?.map(index => index.IndexName) ?? [];
  for (const index of vectorIndexes(table)) {
    if (namesIn(await describeTable(control, table.name)).includes(index.IndexName)) continue;
    const without = (why: string) =>
      progress(table.name, `no vector index ${index.IndexName}, so searches compare all items: ${why}`);
    try {
      await control.execute('UpdateTable', {
        TableName: table.name,
        AttributeDefinitions: [{ AttributeName: table.keys.partition, AttributeType: 'S' }],
        VectorIndexUpdates: [{ Create: index }],
      });
    } catch (error) {
      const { name = '', message = '' } = error as Partial<Error>;
      if (!lacksVectors.test(name)) throw error;
      without(message);
      continue;
    }
    await untilActive({ control, progress, clock } as Creation, table.name);
    if (namesIn(await describeTable(control, table.name)).includes(index.IndexName))
      progress(table.name, `add the vector index ${index.IndexName}`);
    else without('the store ignores it');
  }
}

// DynamoDB builds one index at a time.
async function addIndexes(work: Creation, table: AnyTable, described: TableDescription): Promise<void> {
  const present = new Set(described.GlobalSecondaryIndexes?.map(index => index.IndexName));
  for (const index of globalIndexes(table)) {
    if (present.has(index.IndexName)) continue;
    work.progress(table.name, `add the index ${index.IndexName}`);
    await work.control.execute('UpdateTable', {
      TableName: table.name,
      AttributeDefinitions: attributesOf(table, index),
      GlobalSecondaryIndexUpdates: [{ Create: index }],
    });
    await untilActive(work, table.name);
  }
}

const attributesOf = (table: AnyTable, index: GlobalIndex) =>
  [...new Set([...keySchema(table.keys), ...index.KeySchema].map(key => key.AttributeName))].map(name => ({
    AttributeName: name,
    AttributeType: 'S',
  }));

async function addStream(work: Creation, table: AnyTable, described: TableDescription): Promise<void> {
  if (!table.stream || described.StreamSpecification?.StreamEnabled) return;
  work.progress(table.name, 'enable the stream');
  await work.control.execute('UpdateTable', {
    TableName: table.name,
    StreamSpecification: { StreamEnabled: true, StreamViewType: table.stream },
  });
  await untilActive(work, table.name);
}

async function enableTtl({ control, progress }: Creation, table: AnyTable): Promise<void> {
  if (table.ttl === undefined) return;
  const answer = await control.execute('DescribeTimeToLive', { TableName: table.name });
  const { TimeToLiveDescription: ttl } = answer as {
    TimeToLiveDescription?: { TimeToLiveStatus?: string; AttributeName?: string };
  };
  if (ttl?.TimeToLiveStatus === 'ENABLED' || ttl?.TimeToLiveStatus === 'ENABLING') {
    if (ttl.AttributeName === table.ttl) return;
    const difference = `its items expire by ${ttl.AttributeName}, not by ${table.ttl}`;
    throw tableErrors.create(
      'table.design_mismatch',
      `${table.name} is not the table of its design: ${difference}`,
      { differences: [difference] },
    );
  }
  progress(table.name, `enable expiry by ${table.ttl}`);
  await control.execute('UpdateTimeToLive', {
    TableName: table.name,
    TimeToLiveSpecification: { Enabled: true, AttributeName: table.ttl },
  });
}

type Backups = {
  ContinuousBackupsDescription?: {
    PointInTimeRecoveryDescription?: { PointInTimeRecoveryStatus?: string };
  };
};

// DynamoDB refuses this for a moment after a table was created.
async function enableRecovery({ control, clock, progress }: Creation, TableName: string): Promise<void> {
  for (let left = recoveryAttempts; ; left--)
    try {
      const { ContinuousBackupsDescription: found } = (await control.execute('DescribeContinuousBackups', {
        TableName,
      })) as Backups;
      if (found?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED') return;
      await control.execute('UpdateContinuousBackups', {
        TableName,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      });
      return progress(TableName, 'enable point-in-time recovery');
    } catch (error) {
      const { name = '', message = '' } = error as Partial<Error>;
      if (name === 'ContinuousBackupsUnavailableException' && left > 1) await clock.sleep(pollMs);
      else if (isHelpless.test(name)) return progress(TableName, `no point-in-time recovery: ${message}`);
      else throw error;
    }
}

async function describeTable(control: ControlPlane, name: string): Promise<TableDescription | undefined> {
  try {
    const answer = await control.execute('DescribeTable', { TableName: name });
    return (answer as { Table: TableDescription }).Table;
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

async function untilActive({ control, clock }: Creation, name: string): Promise<void> {
  const deadline = clock.now() + waitMs;
  while (clock.now() < deadline) {
    const described = await describeTable(control, name);
    const indexes = [...(described?.GlobalSecondaryIndexes ?? []), ...(described?.VectorIndexes ?? [])];
    if (described?.TableStatus === 'ACTIVE' && indexes.every(index => index.IndexStatus === 'ACTIVE')) return;
    await clock.sleep(pollMs);
  }
  throw tableErrors.create('table.busy', `${name} did not become active`);
}
