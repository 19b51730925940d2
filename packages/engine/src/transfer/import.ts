import type { Context } from '../context.ts';
import { DynamoError } from '../errors.ts';
import { readImage, writeChange } from '../item-writer.ts';
import type { Plan } from '../items/write-plan.ts';
import { planPut } from '../items/write-plan.ts';
import type { Tx } from '../storage/committer.ts';
import { attributesOfKey, type KeyAttribute, type Table } from '../storage/table.ts';
import { discardTable, startGarbageRemoval } from '../tables/removal.ts';
import { deserialize } from '../validation/deserialize.ts';
import type { ImportTableInput } from '../validation/exports.ts';
import { type PutItemInput, validatePutItem } from '../validation/put-item.ts';
import type { Item } from '../values/attribute-value.ts';
import { type Bucket, TransferError } from './buckets.ts';
import { createCsvSplitter, csvItem } from './csv.ts';
import { lineBytes, readLines } from './lines.ts';
import { type TransferRecord, transferRecords } from './records.ts';

// Fills a new table from files. What is no item of the table is counted, and skipped. Work that a crash interrupted
// begins again: writing an item twice changes nothing.

export type Import = TransferRecord & {
  input: ImportTableInput;
  tableId: number;
  tableUuid: string;
  endedAt?: number;
  read: { bytes: number; items: number };
  imported: number;
  errors: number;
  failure?: { code: string; message: string };
};

export const importRecords = transferRecords<Import>('import');

const itemsPerTransaction = 512;
const bytesPerTransaction = 1024 * 1024;

export function continueImport(context: Context, started: Import): void {
  context.background(`import ${started.key}`, async signal => {
    const counts = { read: { bytes: 0, items: 0 }, imported: 0, errors: 0 };
    try {
      await run(context, started, counts, signal);
      if (signal.aborted) return;
      await finish(context, { ...started, ...counts }, (tx, table) => {
        const { importedBy: _, isCreating: __, ...ready } = table;
        context.catalog.save(tx, ready);
      });
    } catch (error) {
      if (signal.aborted) return;
      const isKnown = error instanceof TransferError;
      const failure = {
        code: isKnown ? error.code : 'InternalServerError',
        message: (error as Error).message,
      };
      await finish(context, { ...started, ...counts, failure }, (tx, table) => {
        discardTable(tx, table);
        context.catalog.drop(tx, table);
      });
      startGarbageRemoval(context);
      if (!isKnown) throw error;
    }
  });
}

const creating = ({ catalog }: Context, id: number): Table | undefined => {
  const table = catalog.findById(id);
  return table?.isCreating ? table : undefined;
};

// Another process may have done the same work.
const finish = (context: Context, record: Import, end: (tx: Tx, table: Table) => void): Promise<void> =>
  context.submit(tx => {
    const table = creating(context, record.tableId);
    if (!table) return;
    end(tx, table);
    importRecords.save(tx, { ...record, isDone: true, endedAt: context.now() });
  });

type Counts = Pick<Import, 'read' | 'imported' | 'errors'>;

async function run(context: Context, { input, tableId }: Import, counts: Counts, signal: AbortSignal) {
  const { S3Bucket, S3KeyPrefix } = input.S3BucketSource;
  const bucket = context.buckets(S3Bucket);
  const compression = input.InputCompressionType === 'GZIP' ? 'GZIP' : 'NONE';
  const keys = await sourceFiles(bucket, S3Bucket, S3KeyPrefix);
  const table = creating(context, tableId);
  if (!table) return;
  const onBytes = (bytes: number) => {
    counts.read.bytes += bytes;
  };
  let plans: Plan[] = [];
  let size = 0;
  let writing: Promise<void> | undefined;
  const write = async () => {
    await writing; // while one is written, the next is read
    const batch = plans;
    plans = [];
    size = 0;
    writing = context.submit(tx => writeItems(context, tx, tableId, batch));
    counts.imported += batch.length;
  };
  const types = typesOf(table);
  for (const key of keys) {
    const lines = readLines(bucket.read(key), compression, onBytes);
    for await (const read of input.InputFormat === 'CSV' ? csvItems(lines, input, types) : jsonItems(lines)) {
      if (signal.aborted) return;
      counts.read.items++;
      const plan = planOf(table, read);
      if (!plan) {
        counts.errors++;
        continue;
      }
      plans.push(plan);
      size += plan.size;
      if (plans.length >= itemsPerTransaction || size >= bytesPerTransaction) await write();
    }
  }
  await write();
  await writing;
}

/** The files whose items are to be read, in order. */
export async function sourceFiles(bucket: Bucket, name: string, prefix = ''): Promise<string[]> {
  const keys = (await bucket.list(prefix)).filter(isData);
  if (keys.length > 0) return keys;
  throw new TransferError('S3NoSuchKey', `No file of the bucket ${name} begins with ${prefix}`);
}

// An export has other files beside its data.
const isData = (key: string): boolean =>
  !/(^|\/)(_started|manifest-(files|summary)\.(json|checksum))$/.test(key);

type SizedPlan = Plan & { size: number };

function planOf(table: Table, read: () => Item): SizedPlan | undefined {
  try {
    const input: PutItemInput = { TableName: table.name, Item: read() };
    validatePutItem(input);
    const plan = planPut(table, input.Item, {});
    return Object.assign(plan, { size: plan.next(undefined).after!.bytes.length });
  } catch (error) {
    if (error instanceof DynamoError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function writeItems(context: Context, tx: Tx, tableId: number, plans: readonly Plan[]): void {
  const table = creating(context, tableId);
  if (!table) return;
  const now = context.now();
  for (const { key, next } of plans) {
    const before = tx.has(key) ? readImage(context.store, key) : undefined;
    const { after } = next(before);
    writeChange(tx, { table, key, ...(before && { before }), after: after!, now });
  }
}

const typesOf = (table: Table): ReadonlyMap<string, KeyAttribute['type']> =>
  new Map(
    [table, ...table.indexes]
      .flatMap(({ keys }) => attributesOfKey(keys))
      .map(({ name, type }) => [name, type]),
  );

async function* jsonItems(lines: AsyncIterable<string>): AsyncGenerator<() => Item> {
  for await (const line of lines) {
    if (line.trim() === '') continue;
    yield () => (deserialize('PutItem', { Item: JSON.parse(line)?.Item }) as { Item: Item }).Item;
  }
}

async function* csvItems(
  lines: AsyncIterable<string>,
  { InputFormatOptions }: ImportTableInput,
  types: ReadonlyMap<string, KeyAttribute['type']>,
): AsyncGenerator<() => Item> {
  const { Delimiter = ',', HeaderList } = InputFormatOptions?.Csv ?? {};
  const { split, isOpen } = createCsvSplitter(Delimiter, lineBytes);
  let header = HeaderList;
  for await (const line of lines) {
    const text = line.replace(/\r$/, '');
    if (text === '' && !isOpen()) continue;
    const fields = split(text);
    if (!fields) continue;
    if (!header) header = fields;
    else yield () => csvItem(header!, fields, types);
  }
  if (isOpen())
    yield () => {
      throw new SyntaxError('A quoted field has no end');
    };
}
