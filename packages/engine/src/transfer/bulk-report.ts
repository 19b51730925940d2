import type { Context } from '../context.ts';
import type { Tx } from '../storage/committer.ts';
import { metaKey } from '../storage/keys.ts';
import { decodeText, encodeJson } from '../storage/store.ts';
import type { BulkPut } from './bulk-records.ts';

// What a bulk operation did not write. The lines are stored in the transaction of the batch that they belong to, so that
// none is lost or told twice if the process is killed, and become files at the end.

export type ReportType = 'ERROR' | 'CONDITION_CHECK_FAILURE';

const fileBytes = 8 * 1024 * 1024;
const linesPerTransaction = 1000;
const names = { ERROR: 'errors', CONDITION_CHECK_FAILURE: 'condition-check-failures' };

const lineKey = (key: string, number: number): Buffer =>
  metaKey(`bulk-report/${key}/${String(number).padStart(12, '0')}`);

export function addReportLine(tx: Tx, record: BulkPut, type: ReportType, line: object): void {
  if (!record.input.OutputS3Configuration.OutputType.includes(type)) return;
  record.progress.reported += 1;
  tx.put(lineKey(record.key, record.progress.reported), encodeJson({ type, line }));
}

export async function writeReport(context: Context, record: BulkPut, signal: AbortSignal): Promise<void> {
  const { S3Bucket, S3KeyPrefix } = record.input.OutputS3Configuration;
  const bucket = context.buckets(S3Bucket!);
  const within = `AWSDynamoDB/${record.key}`;
  const root = S3KeyPrefix ? `${S3KeyPrefix.replace(/\/$/, '')}/${within}` : within;
  const open = { ERROR: newFile(), CONDITION_CHECK_FAILURE: newFile() };
  const flush = async (type: ReportType) => {
    const { lines, count } = open[type];
    if (lines.length === 0) return;
    open[type] = newFile(count + 1);
    const number = String(count + 1).padStart(5, '0');
    await bucket.put(`${root}/${names[type]}-${number}.json`, Buffer.from(lines.join('')));
  };
  for (let number = 1; number <= record.progress.reported; number++) {
    signal.throwIfAborted();
    const text = context.store.get(lineKey(record.key, number), decodeText);
    if (text === undefined) continue;
    const { type, line } = JSON.parse(text) as { type: ReportType; line: object };
    const file = open[type];
    const written = `${JSON.stringify(line)}\n`;
    file.lines.push(written);
    file.bytes += written.length;
    if (file.bytes >= fileBytes) await flush(type);
  }
  await flush('ERROR');
  await flush('CONDITION_CHECK_FAILURE');
}

const newFile = (count = 0) => ({ lines: [] as string[], bytes: 0, count });

export async function removeReportLines(context: Context, { key, progress }: BulkPut): Promise<void> {
  for (let first = 1; first <= progress.reported; first += linesPerTransaction)
    await context.submit(tx => {
      const end = Math.min(first + linesPerTransaction - 1, progress.reported);
      for (let number = first; number <= end; number++) tx.remove(lineKey(key, number));
    });
}
