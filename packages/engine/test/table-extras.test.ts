import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { call, hashTable, newIndex, openEngine, streaming, streamOf, testClock } from './engine-fixture.ts';

// Recovery, policies, insights, destinations, copies: what tools set and ask for beside a table's items.

const clock = testClock();
let engine: Engine;
beforeEach(async () => {
  engine = await openEngine({ clock });
  await call(engine, 'CreateTable', hashTable('orders', streaming()));
});
afterEach(() => engine.close());

const table = { TableName: 'orders' };
const arn = 'arn:aws:dynamodb:us-east-1:123456789012:table/orders';
const fails = (name: string, message: string) => ({ name, message: expect.stringContaining(message) });

describe('continuous backups', () => {
  const set = (PointInTimeRecoverySpecification: object) =>
    call(engine, 'UpdateContinuousBackups', { ...table, PointInTimeRecoverySpecification });
  const recovery = async () =>
    (await call(engine, 'DescribeContinuousBackups', table)).ContinuousBackupsDescription
      .PointInTimeRecoveryDescription;

  it('are turned on and off', async () => {
    expect(await recovery()).toEqual({ PointInTimeRecoveryStatus: 'DISABLED' });
    await set({ PointInTimeRecoveryEnabled: true });
    const since = clock.ms / 1000;
    clock.ms += 60_000;
    expect(await recovery()).toEqual({
      PointInTimeRecoveryStatus: 'ENABLED',
      RecoveryPeriodInDays: 35,
      // A store in memory has only the present.
      EarliestRestorableDateTime: since + 60,
      LatestRestorableDateTime: since + 60,
    });
    await set({ PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 7 });
    expect(await recovery()).toMatchObject({ RecoveryPeriodInDays: 7 });
    await set({ PointInTimeRecoveryEnabled: false });
    expect(await recovery()).toEqual({ PointInTimeRecoveryStatus: 'DISABLED' });
  });

  it('refuse what DynamoDB refuses', async () => {
    await expect(set({ PointInTimeRecoveryEnabled: false, RecoveryPeriodInDays: 7 })).rejects.toThrow(
      'Cannot specify RecoveryPeriodInDays when disabling',
    );
    await expect(set({ PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 36 })).rejects.toThrow(
      'less than or equal to 35',
    );
    await expect(
      call(engine, 'UpdateContinuousBackups', {
        TableName: 'nowhere',
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      }),
    ).rejects.toMatchObject(fails('TableNotFoundException', 'Table not found: nowhere'));
  });
});

describe('resource policies', () => {
  const policy = (action: string) => JSON.stringify({ Statement: [{ Action: action }] });
  const put = (more: object = {}) =>
    call(engine, 'PutResourcePolicy', { ResourceArn: arn, Policy: policy('dynamodb:GetItem'), ...more });
  const get = (resource = arn) => call(engine, 'GetResourcePolicy', { ResourceArn: resource });
  const drop = (more: object = {}) => call(engine, 'DeleteResourcePolicy', { ResourceArn: arn, ...more });
  const missing = fails('PolicyNotFoundException', `not found for the provided ResourceArn: ${arn}`);

  it('are put, read, replaced by revision and deleted', async () => {
    await expect(get()).rejects.toMatchObject(missing);
    const { RevisionId: first } = await put({ ExpectedRevisionId: 'NO_POLICY' });
    expect(await get()).toEqual({ Policy: policy('dynamodb:GetItem'), RevisionId: first });
    expect(await put()).toEqual({ RevisionId: first });
    const { RevisionId: second } = await put({ Policy: policy('dynamodb:Query'), ExpectedRevisionId: first });
    expect(second).not.toBe(first);
    const stale = `Requested update for policy with revision id ${first}, but the policy associated to target table`;
    await expect(put({ ExpectedRevisionId: first })).rejects.toMatchObject(
      fails('PolicyNotFoundException', stale),
    );
    await expect(put({ ExpectedRevisionId: 'NO_POLICY' })).rejects.toThrow('expecting none to be present');
    await expect(drop({ ExpectedRevisionId: first })).rejects.toThrow(stale);
    expect(await drop()).toEqual({ RevisionId: second });
    expect(await drop()).toEqual({ RevisionId: '' });
    await expect(drop({ ExpectedRevisionId: second })).rejects.toMatchObject(missing);
    await expect(get()).rejects.toMatchObject(missing);
  });

  it('of a stream are separate', async () => {
    const stream = await streamOf(engine, 'orders');
    await put({ ResourceArn: stream });
    await expect(get()).rejects.toMatchObject(missing);
    expect(await get(stream)).toMatchObject({ Policy: policy('dynamodb:GetItem') });
    await expect(get(`${arn}/stream/2000-01-01T00:00:00.000`)).rejects.toMatchObject(
      fails('ResourceNotFoundException', 'Stream: 2000-01-01T00:00:00.000 not found for Table: orders'),
    );
  });

  it('can come with the table', async () => {
    await call(engine, 'CreateTable', hashTable('guarded', { ResourcePolicy: policy('dynamodb:Scan') }));
    expect(await get(arn.replace('orders', 'guarded'))).toMatchObject({ Policy: policy('dynamodb:Scan') });
  });

  it.each([
    ['orders', "ARNs must start with 'arn:': orders"],
    [`${arn}/index/x`, 'only table or stream is accepted'],
    ['arn:aws:s3:::bucket', 'Provided Arn is not a DynamoDB resource arn: arn:aws:s3:::bucket'],
    [arn.replace('orders', 'nowhere'), 'Requested resource not found: Table: nowhere not found'],
  ])('refuse %s', async (resource, message) => {
    await expect(get(resource)).rejects.toThrow(message);
  });

  it.each([
    ['{', 'Invalid policy document: This policy contains invalid Json'],
    ['[]', 'Invalid policy document: This policy contains invalid Json'],
    [`{"a":"${'x'.repeat(20_480)}"}`, 'Maximum policy size of 20480 bytes exceeded'],
  ])('refuse the document %.20s', async (document, message) => {
    await expect(put({ Policy: document })).rejects.toThrow(message);
  });
});

it('contributor insights are kept for a table and its global indexes', async () => {
  const describe = (more: object = {}) => call(engine, 'DescribeContributorInsights', { ...table, ...more });
  const update = (action: string, more: object = {}) =>
    call(engine, 'UpdateContributorInsights', { ...table, ContributorInsightsAction: action, ...more });
  expect(await describe()).toEqual({ TableName: 'orders', ContributorInsightsStatus: 'DISABLED' });
  expect(await update('ENABLE')).toMatchObject({ ContributorInsightsStatus: 'ENABLING' });
  expect(await describe()).toMatchObject({
    ContributorInsightsStatus: 'ENABLED',
    ContributorInsightsMode: 'ACCESSED_AND_THROTTLED_KEYS',
    LastUpdateDateTime: clock.ms / 1000,
  });
  await expect(describe({ IndexName: 'by-who' })).rejects.toThrow(
    'Requested resource not found: Index: by-who not found for table: orders',
  );
  await call(engine, 'UpdateTable', { ...table, ...newIndex('by-who', 'who') });
  await engine.settled();
  await update('ENABLE', { IndexName: 'by-who', ContributorInsightsMode: 'THROTTLED_KEYS' });
  await update('DISABLE');
  const { ContributorInsightsSummaries } = await call(engine, 'ListContributorInsights', {});
  expect(ContributorInsightsSummaries).toEqual([
    {
      TableName: 'orders',
      ContributorInsightsStatus: 'DISABLED',
      ContributorInsightsMode: 'ACCESSED_AND_THROTTLED_KEYS',
    },
    {
      TableName: 'orders',
      IndexName: 'by-who',
      ContributorInsightsStatus: 'ENABLED',
      ContributorInsightsMode: 'THROTTLED_KEYS',
    },
  ]);
});

it('a Kinesis destination is taken and never becomes active', async () => {
  const StreamArn = 'arn:aws:kinesis:us-east-1:123456789012:stream/orders';
  const destinations = async () =>
    (await call(engine, 'DescribeKinesisStreamingDestination', table)).KinesisDataStreamDestinations;
  expect(await destinations()).toEqual([]);
  for (let i = 0; i < 2; i++) {
    const answer = await call(engine, 'EnableKinesisStreamingDestination', { ...table, StreamArn });
    expect(answer).toMatchObject({ StreamArn, DestinationStatus: 'ENABLING' });
  }
  expect(await destinations()).toMatchObject([{ StreamArn, DestinationStatus: 'ENABLE_FAILED' }]);
  await expect(call(engine, 'DisableKinesisStreamingDestination', { ...table, StreamArn })).rejects.toThrow(
    'KinesisStreamingDestination must be ACTIVE to perform DISABLE operation.',
  );
  await expect(
    call(engine, 'UpdateKinesisStreamingDestination', {
      ...table,
      StreamArn,
      UpdateKinesisStreamingConfiguration: { ApproximateCreationDateTimePrecision: 'MICROSECOND' },
    }),
  ).rejects.toThrow('Updates are only allowed in ACTIVE state');
});

describe('copies and global tables', () => {
  const backup = { BackupArn: `${arn}/backup/01` };
  const target = { TargetTableName: 'restored' };
  it.each([
    ['CreateBackup', { TableName: 'nowhere', BackupName: 'nightly' }, 'TableNotFoundException'],
    ['DescribeBackup', backup, 'BackupNotFoundException'],
    ['DeleteBackup', backup, 'BackupNotFoundException'],
    ['RestoreTableFromBackup', { ...backup, ...target }, 'BackupNotFoundException'],
    [
      'RestoreTableToPointInTime',
      { SourceTableName: 'orders', ...target, UseLatestRestorableTime: true },
      'PointInTimeRecoveryUnavailableException',
    ],
    [
      'ExportTableToPointInTime',
      { TableArn: arn, S3Bucket: 'bucket' },
      'PointInTimeRecoveryUnavailableException',
    ],
    ['DescribeExport', { ExportArn: `${arn}/export/01` }, 'ExportNotFoundException'],
    ['DescribeImport', { ImportArn: `${arn}/import/01` }, 'ImportNotFoundException'],
    ['CreateGlobalTable', { GlobalTableName: 'orders', ReplicationGroup: [] }, 'ValidationException'],
    ['UpdateGlobalTable', { GlobalTableName: 'orders', ReplicaUpdates: [] }, 'ValidationException'],
    ['DescribeGlobalTable', { GlobalTableName: 'orders' }, 'GlobalTableNotFoundException'],
    ['DescribeGlobalTableSettings', { GlobalTableName: 'orders' }, 'GlobalTableNotFoundException'],
    ['UpdateGlobalTableSettings', { GlobalTableName: 'orders' }, 'GlobalTableNotFoundException'],
    ['DescribeTableReplicaAutoScaling', table, 'ResourceNotFoundException'],
    ['UpdateTableReplicaAutoScaling', table, 'ResourceNotFoundException'],
  ] as const)('%s reports what is missing', async (operation, input, name) => {
    await expect(engine.execute(operation, input)).rejects.toMatchObject({ name });
  });

  it.each(['ListBackups', 'ListExports', 'ListImports', 'ListGlobalTables'])(
    '%s is empty',
    async operation => {
      expect(Object.values(await engine.execute(operation, {}))).toEqual([[]]);
    },
  );
});

it('DescribeStream lists the children of a shard', async () => {
  const StreamArn = await streamOf(engine, 'orders');
  const list = async (more: object = {}) =>
    (await call(engine, 'DescribeStream', { StreamArn, ...more })).StreamDescription.Shards;
  await engine.rollShards('orders');
  const [first, second] = await list();
  const children = (ShardId: string) => list({ ShardFilter: { Type: 'CHILD_SHARDS', ShardId } });
  expect(await children(first!.ShardId)).toEqual([second]);
  expect(await children(second!.ShardId)).toEqual([]);
  await expect(list({ ShardFilter: { Type: 'SIBLINGS', ShardId: first!.ShardId } })).rejects.toThrow(
    'Member must satisfy enum value set: [CHILD_SHARDS]',
  );
  await expect(list({ ShardFilter: { Type: 'CHILD_SHARDS' } })).rejects.toThrow('ShardFilter');
});
