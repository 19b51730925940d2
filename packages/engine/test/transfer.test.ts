import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { call, hashTable, openEngine, testClock } from './engine-fixture.ts';

const clock = testClock();
let folder: string;
let engine: Engine;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stak-transfer-'));
  engine = await openEngine({ clock, path: join(folder, 'store'), buckets: join(folder, 'buckets') });
  await engine.history!.maintain(new AbortController().signal);
  await call(engine, 'CreateTable', hashTable('notes'));
  await call(engine, 'UpdateContinuousBackups', {
    TableName: 'notes',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  });
});
afterEach(async () => {
  await engine.close();
  rmSync(folder, { recursive: true });
});

const TableArn = 'arn:aws:dynamodb:us-east-1:123456789012:table/notes';
const bucketFile = (key: string) => join(folder, 'buckets', 'backups', key);
const contentOf = (key: string) => readFileSync(bucketFile(key), 'utf8');
function writeSource(key: string, content: string | Buffer): void {
  mkdirSync(dirname(bucketFile(key)), { recursive: true });
  writeFileSync(bucketFile(key), content);
}

const rich = {
  pk: { S: 'rich' },
  n: { N: '12345678901234567890' },
  b: { B: Buffer.from([0, 1, 255]) },
  list: { L: [{ NULL: true }, { BOOL: false }, { M: { a: { S: 'ä' } } }] },
  ss: { SS: ['x', 'y'] },
  ns: { NS: ['1', '2.5'] },
  bs: { BS: [Buffer.from('z')] },
};
const put = (Item: object) => call(engine, 'PutItem', { TableName: 'notes', Item });
const scan = async (TableName: string) => {
  const { Items = [] } = (await call(engine, 'Scan', { TableName })) as { Items?: { pk: { S: string } }[] };
  return Items.toSorted((a, b) => (a.pk.S < b.pk.S ? -1 : 1));
};

async function exportTable(more: object = {}) {
  const { ExportDescription: started } = await call(engine, 'ExportTableToPointInTime', {
    TableArn,
    S3Bucket: 'backups',
    ...more,
  });
  expect(started).toMatchObject({ ExportStatus: 'IN_PROGRESS', S3Bucket: 'backups' });
  await engine.settled();
  return (await call(engine, 'DescribeExport', { ExportArn: started.ExportArn })).ExportDescription;
}

async function importTable(more: object = {}) {
  const { ImportTableDescription: started } = await call(engine, 'ImportTable', {
    S3BucketSource: { S3Bucket: 'backups' },
    InputFormat: 'DYNAMODB_JSON',
    TableCreationParameters: hashTable('imported'),
    ...more,
  });
  expect(started.ImportStatus).toBe('IN_PROGRESS');
  await engine.settled();
  return (await call(engine, 'DescribeImport', { ImportArn: started.ImportArn })).ImportTableDescription;
}

it('a table is exported in the documented files, and imported from them as it was', async () => {
  await put(rich);
  for (let n = 0; n < 20; n++) await put({ pk: { S: `k${n}` }, n: { N: String(n) } });
  const before = await scan('notes');
  const exported = await exportTable({ S3Prefix: 'daily' });
  expect(exported).toMatchObject({ ExportStatus: 'COMPLETED', ItemCount: 21, ExportType: 'FULL_EXPORT' });
  const manifest = exported.ExportManifest!;
  expect(manifest).toMatch(/^daily\/AWSDynamoDB\/[0-9]{14}-[0-9a-f]{8}\/manifest-summary\.json$/);
  const summary = JSON.parse(contentOf(manifest));
  expect(summary).toMatchObject({
    version: '2020-06-30',
    exportArn: exported.ExportArn,
    tableArn: TableArn,
    s3Bucket: 'backups',
    s3Prefix: 'daily',
    itemCount: 21,
    outputFormat: 'DYNAMODB_JSON',
  });
  expect(contentOf(manifest.replace('.json', '.checksum'))).toBe(
    createHash('md5').update(contentOf(manifest)).digest('base64'),
  );
  const [file] = contentOf(summary.manifestFilesS3Key)
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  const data = readFileSync(bucketFile(file.dataFileS3Key));
  expect(file).toMatchObject({
    itemCount: 21,
    md5Checksum: createHash('md5').update(data).digest('base64'),
  });
  const lines = gunzipSync(data)
    .toString()
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(lines.find(({ Item }) => Item.pk.S === 'rich').Item).toMatchObject({
    n: { N: '12345678901234567890' },
    b: { B: 'AAH/' },
  });

  const imported = await importTable({
    S3BucketSource: { S3Bucket: 'backups', S3KeyPrefix: `${dirname(manifest)}/data/` },
    InputCompressionType: 'GZIP',
  });
  expect(imported).toMatchObject({
    ImportStatus: 'COMPLETED',
    ProcessedItemCount: 21,
    ImportedItemCount: 21,
    ErrorCount: 0,
    ProcessedSizeBytes: data.length,
  });
  expect(await scan('imported')).toEqual(before);
  expect(engine.check().problems).toEqual([]);
});

it('an export of an earlier moment has the items of that moment', async () => {
  await put({ pk: { S: 'a' }, n: { N: '1' } });
  const at = clock.ms;
  clock.ms += 60_000;
  await put({ pk: { S: 'a' }, n: { N: '2' } });
  await put({ pk: { S: 'b' } });
  expect(await exportTable({ ExportTime: at / 1000 })).toMatchObject({ ItemCount: 1, ExportTime: at / 1000 });
  await expect(exportTable({ ExportTime: at / 1000 - 3600 })).rejects.toMatchObject({
    name: 'InvalidExportTimeException',
  });
});

it('a client token makes an export or an import once, and not another one', async () => {
  const again = { ClientToken: 'once' };
  const { ExportArn } = await exportTable(again);
  clock.ms += 1000;
  const second = await call(engine, 'ExportTableToPointInTime', { TableArn, S3Bucket: 'backups', ...again });
  expect(second.ExportDescription.ExportArn).toBe(ExportArn);
  await expect(
    call(engine, 'ExportTableToPointInTime', { TableArn, S3Bucket: 'others', ...again }),
  ).rejects.toMatchObject({ name: 'ExportConflictException' });
  await exportTable();
  const { ExportSummaries, NextToken } = await call(engine, 'ListExports', { TableArn, MaxResults: 1 });
  expect(ExportSummaries).toEqual([{ ExportArn, ExportStatus: 'COMPLETED', ExportType: 'FULL_EXPORT' }]);
  expect((await call(engine, 'ListExports', { NextToken })).ExportSummaries).toHaveLength(1);
});

it('comma-separated values are imported: keys with their types, everything else as text', async () => {
  writeSource(
    'people.csv',
    'id,born,name,note\r\n1,1990,"Ada ""A"", L.",x\n2,oops,Bob,\n3,1985,"two\nlines",z\n',
  );
  const TableCreationParameters = {
    TableName: 'people',
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'born', AttributeType: 'N' },
    ],
    KeySchema: [
      { AttributeName: 'id', KeyType: 'HASH' },
      { AttributeName: 'born', KeyType: 'RANGE' },
    ],
    BillingMode: 'PAY_PER_REQUEST',
  };
  const done = await importTable({ InputFormat: 'CSV', TableCreationParameters });
  expect(done).toMatchObject({ ImportStatus: 'COMPLETED', ImportedItemCount: 2, ErrorCount: 1 });
  const { Items } = await engine.client.scan({ TableName: 'people' });
  expect(Items!.sort((a, b) => (a.id! < b.id! ? -1 : 1))).toEqual([
    { id: '1', born: 1990, name: 'Ada "A", L.', note: 'x' },
    { id: '3', born: 1985, name: 'two\nlines', note: 'z' },
  ]);
  expect((await call(engine, 'ListImports')).ImportSummaryList).toMatchObject([
    { ImportStatus: 'COMPLETED' },
  ]);
});

it('lines that are no items are counted, and what cannot be read fails with a reason and leaves no table', async () => {
  const lines = [
    '{"Item":{"pk":{"S":"a"}}}',
    'no json',
    '{"Item":{"other":{"S":"a"}}}',
    'null',
    '{"Item":{"pk":{"S":"b"},"n":{"N":"x"}}}',
    `{"Item":{"pk":{"S":"c"},"text":{"S":"${'x'.repeat(410_000)}"}}}`,
    '{"Item":{"pk":{"S":"d"}}}',
  ];
  writeSource('data.json.gz', gzipSync(lines.join('\n')));
  const gzip = { InputCompressionType: 'GZIP' };
  expect(await importTable(gzip)).toMatchObject({ ImportedItemCount: 2, ErrorCount: 5 });
  await call(engine, 'DeleteTable', { TableName: 'imported' });
  writeSource('data.json.gz', 'not compressed');
  expect(await importTable(gzip)).toMatchObject({ ImportStatus: 'FAILED', FailureCode: 'GzipFormatError' });
  expect(await importTable({ S3BucketSource: { S3Bucket: 'nowhere' } })).toMatchObject({
    ImportStatus: 'FAILED',
    FailureCode: 'S3NoSuchBucket',
  });
  expect(await exportTable({ S3Prefix: '../../outside' })).toMatchObject({
    ExportStatus: 'FAILED',
    FailureCode: 'S3AccessDenied',
  });
  expect(readdirSync(folder).sort()).toEqual(['buckets', 'store']);
  expect((await call(engine, 'ListTables')).TableNames).toEqual(['notes']);
});

const csv = { InputFormat: 'CSV' };

it('a quoted field without an end is an error, and is read in time that grows with its length only', async () => {
  const lines = 100_000;
  writeSource('data.csv', `pk,text\na,x\nb,"${'y\n""\n'.repeat(lines / 2)}`);
  expect(await importTable(csv)).toMatchObject({ ImportedItemCount: 1, ErrorCount: 1 });
  await call(engine, 'DeleteTable', { TableName: 'imported' });
  writeSource('data.csv', `pk,text\nb,"${'y'.repeat(79).concat('\n').repeat(60_000)}"\n`);
  expect(await importTable(csv)).toMatchObject({ ImportStatus: 'FAILED', FailureCode: 'ItemSizeTooLarge' });
});

it('short records under a very long header are read in time that grows with their length only', async () => {
  writeSource('data.csv', `pk${','.repeat(400_000)}\n${'a\n'.repeat(50_000)}`);
  expect(await importTable(csv)).toMatchObject({ ProcessedItemCount: 50_000, ImportedItemCount: 50_000 });
});

it.each(['GZIP', 'NONE'])('a file whose rest is not wanted is closed (%s)', async compression => {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  let isClosed = false;
  const endless = async function* () {
    try {
      for (;;) yield compression === 'GZIP' ? gzipSync(piece) : piece;
    } finally {
      isClosed = true;
    }
  };
  await engine.close();
  const buckets = () => ({ put: async () => {}, list: async () => ['data'], read: endless });
  engine = await openEngine({ clock, path: join(folder, 'store'), buckets });
  const input = { InputCompressionType: compression };
  expect(await importTable(input)).toMatchObject({ ImportStatus: 'FAILED', FailureCode: 'ItemSizeTooLarge' });
  expect(isClosed).toBe(true);
});

it('a long name that is no bucket is refused at once', async () => {
  const S3BucketSource = { S3Bucket: `${'a'.repeat(3000)}!` };
  const before = process.cpuUsage().user;
  const TableCreationParameters = hashTable('imported');
  await expect(
    call(engine, 'ImportTable', { S3BucketSource, InputFormat: 'CSV', TableCreationParameters }),
  ).rejects.toThrow('Member must satisfy regular expression pattern');
  expect(process.cpuUsage().user - before).toBeLessThan(2_000_000);
});
