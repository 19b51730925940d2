import { setTimeout as sleep } from 'node:timers/promises';
import { type Usage, writeUsage } from '../capacity.ts';
import type { Context } from '../context.ts';
import { DynamoError } from '../errors.ts';
import { serialize } from '../http/serialize.ts';
import { type Image, projectedSize } from '../item-writer.ts';
import { bindGuard } from '../items/guard.ts';
import { applyDecision, decide, type Guard, type Plan, planPut } from '../items/write-plan.ts';
import type { Tx } from '../storage/committer.ts';
import { attributesOfKey, type Table } from '../storage/table.ts';
import { deserialize } from '../validation/deserialize.ts';
import { type PutItemInput, validatePutItem } from '../validation/put-item.ts';
import type { Item } from '../values/attribute-value.ts';
import { TransferError } from './buckets.ts';
import { type BulkPut, type BytesByIndex, bulkRecords } from './bulk-records.ts';
import { addReportLine, removeReportLines, writeReport } from './bulk-report.ts';
import { sourceFiles } from './import.ts';
import { readLines } from './lines.ts';

// Puts the items of files into a table that is in use. Each batch of lines is one transaction, which also saves how far
// the operation is: after a crash it continues with the next line, and writes no item a second time.

const linesPerTransaction = 256;
const bytesPerTransaction = 1024 * 1024;

export function continueBulkPut(context: Context, key: string): void {
  context.background(`bulk operation ${key}`, async signal => {
    let unknown: Error | undefined;
    const failureOf = (error: Error): Failure => {
      if (error instanceof TransferError) return { code: error.code, message: error.message };
      unknown = error;
      return { code: 'InternalServerError', message: error.message };
    };
    const failure = await run(context, key, signal).catch(failureOf);
    if (signal.aborted) return;
    await report(context, key, failure, signal).then(
      () => end(context, key, failure),
      error => (signal.aborted ? undefined : end(context, key, failureOf(error))),
    );
    if (unknown) throw unknown;
  });
}

type Failure = { code: string; message: string };
const cancelled = { code: 'UserCancelled', message: 'The bulk operation was cancelled' };

// An operation that has ended has its files. How it ends is saved with them: a crash after that only has to clean up.
async function report(
  context: Context,
  key: string,
  failure: Failure | undefined,
  signal: AbortSignal,
): Promise<void> {
  const record = ownRecord(context, key);
  if (!record || record.hasReport) return;
  await writeReport(context, record, signal);
  await context.submit(tx => {
    const latest = ownRecord(context, key);
    if (latest) bulkRecords.save(tx, { ...latest, ...(failure && { failure }), hasReport: true });
  });
}

async function end(context: Context, key: string, failure: Failure | undefined): Promise<void> {
  const record = ownRecord(context, key);
  if (!record) return;
  await removeReportLines(context, record);
  await context.submit(tx => {
    const latest = ownRecord(context, key);
    if (!latest) return;
    bulkRecords.save(tx, { ...latest, ...(failure && { failure }), isDone: true, endedAt: context.now() });
  });
}

// Undefined once the operation has ended, or another process does it.
function ownRecord(context: Context, key: string): BulkPut | undefined {
  const record = bulkRecords.get(context, key);
  return record && !record.isDone && record.by === context.peer.id ? record : undefined;
}

type Line = {
  file: string;
  number: number; // in its file, from 1
  text: string;
  put?: { item: Item; guard: Guard; plan: Plan };
  error?: DynamoError;
};
type State = 'written' | 'cancelled' | 'stopped';

async function run(context: Context, key: string, signal: AbortSignal): Promise<Failure | undefined> {
  const started = ownRecord(context, key);
  if (!started || started.hasReport) return started?.failure;
  const { InputS3Configuration: source, MaxWriteRequestUnits: rate } = started.input;
  const bucket = context.buckets(source.S3Bucket);
  const files = await sourceFiles(bucket, source.S3Bucket, source.S3KeyPrefix);
  const { file: firstFile, lines: doneLines, earlierBytes } = started.progress;
  const startedMs = performance.now();
  let units = 0;
  let earlier = earlierBytes;
  for (const file of files) {
    if (file < firstFile) continue;
    let bytes = 0;
    let number = 0;
    let batch: Line[] = [];
    let size = 0;
    const write = async (): Promise<State> => {
      const lines = batch;
      batch = [];
      size = 0;
      const position = { file, lines: number, earlierBytes: earlier, bytes: earlier + bytes };
      const written = await context.submit(tx => writeBatch(context, tx, key, lines, position));
      units += written.units;
      if (rate !== undefined) await pace(units / rate, startedMs, signal);
      return written.state;
    };
    const compression = source.InputCompressionType === 'GZIP' ? 'GZIP' : 'NONE';
    const onBytes = (more: number) => {
      bytes += more;
    };
    for await (const text of readLines(bucket.read(file), compression, onBytes)) {
      if (signal.aborted) return undefined;
      number += 1;
      if ((file === firstFile && number <= doneLines) || text.trim() === '') continue;
      batch.push(readLine(tableOf(context, started), { file, number, text }));
      size += text.length;
      if (batch.length < linesPerTransaction && size < bytesPerTransaction) continue;
      const state = await write();
      if (state !== 'written') return state === 'cancelled' ? cancelled : undefined;
    }
    const state = await write(); // also without lines: the bytes are counted, and it may be cancelled
    if (state !== 'written') return state === 'cancelled' ? cancelled : undefined;
    earlier += bytes;
  }
  return undefined;
}

const longestPauseMs = 1000;

// Waits until as much time has passed as so many seconds of the rate take.
async function pace(seconds: number, startedMs: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const ms = seconds * 1000 - (performance.now() - startedMs);
    if (ms < 1 || signal.aborted) return;
    await sleep(Math.min(ms, longestPauseMs), undefined, { signal }).catch(() => {});
  }
}

function tableOf(context: Context, { tableId, tableName }: BulkPut): Table {
  const table = context.catalog.findById(tableId);
  if (!table || context.catalog.find(tableName) !== table)
    throw new TransferError('ResourceNotFoundException', `The table ${tableName} was deleted`);
  return table;
}

const fields = new Set([
  'Item',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
]);

function readLine(table: Table, line: Line): Line {
  try {
    const json = JSON.parse(line.text) as unknown;
    const input = deserialize('PutItem', json) as PutItemInput;
    const other = Object.keys(json as object).find(name => !fields.has(name));
    if (other !== undefined)
      throw new DynamoError('ValidationException', `A line has no field ${other.slice(0, 100)}`);
    input.TableName = table.name;
    validatePutItem(input);
    const guard = { ...bindGuard(input), returnOnFailure: 'ALL_OLD' as const };
    return { ...line, put: { item: input.Item, guard, plan: planPut(table, input.Item, guard) } };
  } catch (error) {
    return { ...line, error: errorOf(error) };
  }
}

function errorOf(error: unknown): DynamoError {
  if (error instanceof DynamoError && error.statusCode < 500) return error;
  if (error instanceof SyntaxError) return new DynamoError('SerializationException', 'The line is no JSON');
  throw error;
}

type Position = Pick<BulkPut['progress'], 'file' | 'lines' | 'earlierBytes' | 'bytes'>;

function writeBatch(context: Context, tx: Tx, key: string, lines: readonly Line[], position: Position) {
  const record = ownRecord(context, key);
  const table = record && context.catalog.findById(record.tableId);
  // A table that is gone is an error of the next line that is read.
  if (!record || !table) return { state: 'stopped' as State, units: 0 };
  if (record.isCancelled) return { state: 'cancelled' as State, units: 0 };
  const { progress } = record;
  let units = 0;
  for (const line of lines) {
    progress.processed += 1;
    const error = line.error ?? write(line.put!);
    if (!error) continue;
    const where = { S3Key: line.file, Line: line.number };
    if (error.name === 'ConditionalCheckFailedException') {
      const existing = error.Item && { ExistingItem: error.Item };
      const attempt = serialize({ ...where, Item: line.put!.item, ...existing });
      addReportLine(tx, record, 'CONDITION_CHECK_FAILURE', attempt);
      continue;
    }
    progress.failed += 1;
    const report = { ErrorCode: error.name, ErrorMessage: error.message, Record: line.text };
    addReportLine(tx, record, 'ERROR', { ...where, ...report });
  }
  Object.assign(progress, position);
  bulkRecords.save(tx, record);
  return { state: 'written' as State, units };

  function write({ item, guard, plan }: NonNullable<Line['put']>): DynamoError | undefined {
    try {
      const current = plan.table === table ? plan : planPut(table!, item, guard);
      const outcome = decide(context, current);
      applyDecision(context, tx, current, outcome);
      const usage = writeUsage(table!, outcome.before, outcome.after);
      units += countUsage(progress.usage, table!, usage, outcome.after!);
      return undefined;
    } catch (error) {
      return errorOf(error);
    }
  }
}

// The sizes of the item, and of what each index that the put changes has of it. Returns the units of the put.
function countUsage(total: BulkPut['progress']['usage'], table: Table, usage: Usage, after: Image): number {
  let units = usage.table;
  total.table += after.size;
  for (const [index, indexUnits] of usage.indexes) {
    units += indexUnits;
    const isIn = attributesOfKey(index.keys).every(({ name }) => after.item[name] !== undefined);
    const size = isIn ? projectedSize(table, index, after) : 0;
    addBytes(total.indexes, index.name, size);
  }
  for (const [name, bytes] of usage.vectors ?? []) addBytes(total.vectors, name, bytes);
  return units;
}

function addBytes(sums: BytesByIndex, name: string, bytes: number): void {
  const sum = sums.find(([other]) => other === name);
  if (sum) sum[1] += bytes;
  else sums.push([name, bytes]);
}

/** Continues what was interrupted, unless the process that does it is still there. */
export async function resumeBulkPuts(context: Context): Promise<void> {
  const { id, isGone } = context.peer;
  for (const record of bulkRecords.all(context)) {
    if (record.isDone || record.by === id || !(await isGone(record.by))) continue;
    const isOurs = await context.submit(tx => {
      const latest = bulkRecords.get(context, record.key);
      if (!latest || latest.isDone || latest.by !== record.by) return false;
      bulkRecords.save(tx, { ...latest, by: id });
      return true;
    });
    if (isOurs) continueBulkPut(context, record.key);
  }
}
