import { createHash, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from '../context.ts';
import { serialize } from '../http/serialize.ts';
import { decodeItem, decodeSize } from '../storage/codec.ts';
import { tableArn } from '../tables/arns.ts';
import { currentItems, type ItemSource } from '../tables/item-source.ts';
import { type Bucket, TransferError } from './buckets.ts';
import { type TransferRecord, transferRecords } from './records.ts';

// Writes a table as it was at a moment to the files that DynamoDB documents.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html

export type Export = TransferRecord & {
  tableId: number;
  tableUuid: string;
  at: number;
  bucket: string;
  bucketOwner?: string | undefined;
  prefix?: string | undefined;
  sse: string;
  sseKey?: string | undefined;
  token?: string | undefined;
  endedAt?: number;
  items?: number;
  bytes?: number;
  manifest?: string;
  failure?: { code: string; message: string };
};

export const exportRecords = transferRecords<Export>('export');

const fileBytes = 16 * 1024 * 1024; // of JSON, before compression: it is held in memory
const gzipped = promisify(gzip);

export function startExport(context: Context, started: Export, isCurrent: boolean): void {
  // The items of this moment, before anything else is written.
  const current = isCurrent || !context.history ? currentItems(context.store, started.tableId) : undefined;
  context.background(`export ${started.key}`, async signal => {
    const ended = await run(context, started, current, signal).catch((error: unknown) => ({
      failure: {
        code: error instanceof TransferError ? error.code : 'InternalServerError',
        message: (error as Error).message,
      },
    }));
    if (!signal.aborted)
      await context.submit(tx =>
        exportRecords.save(tx, { ...started, ...ended, isDone: true, endedAt: context.now() }),
      );
  });
}

async function run(
  context: Context,
  started: Export,
  current: ItemSource | undefined,
  signal: AbortSignal,
): Promise<Pick<Export, 'items' | 'bytes' | 'manifest'>> {
  const source = current ?? (await context.history!.openItems(started.tableId, started.at));
  try {
    const bucket = context.buckets(started.bucket);
    return await writeFiles(context, started, { bucket, source }, signal);
  } finally {
    await source.close();
  }
}

type Target = { bucket: Bucket; source: ItemSource };

async function writeFiles(
  context: Context,
  started: Export,
  { bucket, source }: Target,
  signal: AbortSignal,
): Promise<Pick<Export, 'items' | 'bytes' | 'manifest'>> {
  const within = `AWSDynamoDB/${started.key}`;
  const root = started.prefix ? `${started.prefix.replace(/\/$/, '')}/${within}` : within;
  await bucket.put(`${root}/_started`, Buffer.alloc(0));
  const files: string[] = [];
  let items = 0;
  let bytes = 0;
  let lines: string[] = [];
  let length = 0;

  async function writeFile(): Promise<void> {
    const content = await gzipped(Buffer.from(lines.join('')));
    const key = `${root}/data/${randomBytes(16).toString('hex')}.json.gz`;
    await bucket.put(key, content);
    const md5Checksum = createHash('md5').update(content).digest('base64');
    const etag = createHash('md5').update(content).digest('hex');
    files.push(JSON.stringify({ itemCount: lines.length, md5Checksum, etag, dataFileS3Key: key }));
    lines = [];
    length = 0;
  }

  for (let piece = source.read(undefined); piece.length > 0; piece = source.read(piece.at(-1)!.key)) {
    signal.throwIfAborted();
    for (const { bytes: stored } of piece) {
      const line = `${JSON.stringify(serialize({ Item: decodeItem(stored) }))}\n`;
      lines.push(line);
      length += line.length;
      items++;
      bytes += decodeSize(stored);
    }
    if (length >= fileBytes) await writeFile();
    else await new Promise(setImmediate);
  }
  if (lines.length > 0 || files.length === 0) await writeFile();
  const manifestFilesS3Key = `${root}/manifest-files.json`;
  await putWithChecksum(bucket, manifestFilesS3Key, `${files.join('\n')}\n`);
  const time = (ms: number) => new Date(ms).toISOString();
  const summary = {
    version: '2020-06-30',
    exportArn: exportRecords.arnOf(context, started),
    startTime: time(started.startedAt),
    endTime: time(context.now()),
    tableArn: tableArn(context, started.tableName),
    tableId: started.tableUuid,
    exportTime: time(started.at),
    s3Bucket: started.bucket,
    s3Prefix: started.prefix ?? null,
    s3SseAlgorithm: started.sse,
    s3SseKmsKeyId: started.sseKey ?? null,
    manifestFilesS3Key,
    billedSizeBytes: bytes,
    itemCount: items,
    outputFormat: 'DYNAMODB_JSON',
    exportType: 'FULL_EXPORT',
  };
  const manifest = `${root}/manifest-summary.json`;
  await putWithChecksum(bucket, manifest, JSON.stringify(summary));
  return { items, bytes, manifest };
}

async function putWithChecksum(bucket: Bucket, key: string, text: string): Promise<void> {
  const content = Buffer.from(text);
  await bucket.put(key, content);
  const sum = createHash('md5').update(content).digest('base64');
  await bucket.put(key.replace(/\.json$/, '.checksum'), Buffer.from(sum));
}

// The process that was to make them is gone.
export async function endUnfinished(context: Context): Promise<void> {
  const { id, isGone } = context.peer;
  for (const record of exportRecords.all(context)) {
    if (record.isDone || record.by === id || !(await isGone(record.by))) continue;
    const failure = { code: 'InternalServerError', message: 'The process that made the export has ended' };
    await context.submit(tx =>
      exportRecords.save(tx, { ...record, failure, isDone: true, endedAt: context.now() }),
    );
  }
}
