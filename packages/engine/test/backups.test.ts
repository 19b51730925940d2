import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { call, newIndex, openEngine, streaming, testClock } from './engine-fixture.ts';

const clock = testClock();
let folder: string;
let engine: Engine;

const orders = {
  TableName: 'orders',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  BillingMode: 'PAY_PER_REQUEST',
  ...streaming(),
};
const itemOf = (n: number, more: object = {}) => ({ pk: `p${n % 3}`, sk: n, owner: `o${n % 2}`, ...more });
const put = (n: number, more?: object) => engine.client.put({ TableName: 'orders', Item: itemOf(n, more) });
const scan = async (TableName: string, IndexName?: string) =>
  ((await engine.client.scan({ TableName, ...(IndexName && { IndexName }) })).Items ?? []).sort(
    (a, b) => (a.sk as number) - (b.sk as number),
  );
const backUp = async (BackupName = 'nightly') => {
  const { BackupDetails } = await call(engine, 'CreateBackup', { TableName: 'orders', BackupName });
  await engine.settled();
  return BackupDetails.BackupArn;
};
const restore = async (BackupArn: string, TargetTableName: string, more: object = {}) => {
  const { TableDescription } = await call(engine, 'RestoreTableFromBackup', {
    BackupArn,
    TargetTableName,
    ...more,
  });
  return TableDescription;
};

describe.each(['in memory', 'in a folder'])('a backup of a table %s', where => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stak-backups-'));
    engine = await openEngine({ clock, ...(where === 'in a folder' && { path: folder }) });
    await call(engine, 'CreateTable', orders);
    await call(engine, 'UpdateTable', { TableName: 'orders', ...newIndex('by-owner', 'owner') });
    await engine.settled();
    for (let n = 0; n < 20; n++) await put(n);
  });
  afterEach(async () => {
    await engine.close();
    rmSync(folder, { recursive: true });
  });

  it('has the items of its moment, and a table that is restored from it has them, its keys and its indexes', async () => {
    await put(3, { tags: new Set(['a', 'b']), long: 'x'.repeat(20_000) });
    const before = await scan('orders');
    const { BackupDetails: details } = await call(engine, 'CreateBackup', {
      TableName: 'orders',
      BackupName: 'nightly',
    });
    expect(details).toMatchObject({ BackupName: 'nightly', BackupStatus: 'CREATING', BackupType: 'USER' });
    expect(details.BackupArn).toMatch(/:table\/orders\/backup\/[0-9]{14}-[0-9a-f]{8}$/);
    for (let n = 0; n < 10; n++) await put(n, { changed: true });
    await engine.settled();
    const described = await call(engine, 'DescribeBackup', { BackupArn: details.BackupArn });
    expect(described.BackupDescription).toMatchObject({
      BackupDetails: { BackupStatus: 'AVAILABLE', BackupCreationDateTime: clock.ms / 1000 },
      SourceTableDetails: { TableName: 'orders', ItemCount: 20, KeySchema: orders.KeySchema },
      SourceTableFeatureDetails: {
        GlobalSecondaryIndexes: [{ IndexName: 'by-owner' }],
        StreamDescription: { StreamEnabled: true },
      },
    });

    const creating = await restore(details.BackupArn, 'restored');
    expect(creating).toMatchObject({
      TableStatus: 'CREATING',
      RestoreSummary: { SourceBackupArn: details.BackupArn, RestoreInProgress: true },
    });
    await engine.settled();
    expect(await scan('restored')).toEqual(before);
    expect((await scan('restored', 'by-owner')).length).toBe(20);
    const { Table } = await call(engine, 'DescribeTable', { TableName: 'restored' });
    expect(Table).toMatchObject({
      TableStatus: 'ACTIVE',
      ItemCount: 20,
      RestoreSummary: { RestoreInProgress: false },
    });
    expect(Table.StreamSpecification).toBeUndefined();
    expect(engine.check().problems).toEqual([]);
  });

  it('outlives its table, is listed, and is gone when it is deleted', async () => {
    const first = await backUp('first');
    clock.ms += 60_000;
    const second = await backUp('second');
    await call(engine, 'DeleteTable', { TableName: 'orders' });
    const list = async (more: object = {}) => {
      const { BackupSummaries, LastEvaluatedBackupArn } = await call(engine, 'ListBackups', more);
      return { names: BackupSummaries.map(({ BackupName }) => BackupName), LastEvaluatedBackupArn };
    };
    expect(await list()).toEqual({ names: ['first', 'second'], LastEvaluatedBackupArn: undefined });
    expect(await list({ TableName: 'others' })).toMatchObject({ names: [] });
    expect(await list({ BackupType: 'SYSTEM' })).toMatchObject({ names: [] });
    expect(await list({ TimeRangeLowerBound: clock.ms / 1000 })).toMatchObject({ names: ['second'] });
    expect(await list({ TimeRangeUpperBound: clock.ms / 1000 })).toMatchObject({ names: ['first'] });
    expect(await list({ Limit: 1 })).toEqual({ names: ['first'], LastEvaluatedBackupArn: first });
    expect(await list({ Limit: 1, ExclusiveStartBackupArn: first })).toMatchObject({ names: ['second'] });
    await restore(second, 'orders');
    await engine.settled();
    expect(await scan('orders')).toHaveLength(20);
    const { BackupDescription } = await call(engine, 'DeleteBackup', { BackupArn: second });
    expect(BackupDescription.BackupDetails.BackupStatus).toBe('DELETED');
    await engine.settled();
    expect(await list()).toMatchObject({ names: ['first'] });
    await expect(call(engine, 'DescribeBackup', { BackupArn: second })).rejects.toMatchObject({
      name: 'BackupNotFoundException',
      message: `Backup not found: ${second}`,
    });
    expect(engine.check().problems).toEqual([]);
  });

  it('is restored with fewer indexes and other billing, if that is asked', async () => {
    const arn = await backUp();
    await restore(arn, 'plain', {
      GlobalSecondaryIndexOverride: [],
      BillingModeOverride: 'PROVISIONED',
      ProvisionedThroughputOverride: { ReadCapacityUnits: 3, WriteCapacityUnits: 4 },
    });
    await engine.settled();
    const { Table } = await call(engine, 'DescribeTable', { TableName: 'plain' });
    expect(Table.GlobalSecondaryIndexes).toBeUndefined();
    expect(Table.ProvisionedThroughput).toMatchObject({ ReadCapacityUnits: 3, WriteCapacityUnits: 4 });
    await expect(restore(arn, 'other', { BillingModeOverride: 'PROVISIONED' })).rejects.toThrow(
      'must both be specified when BillingMode is PROVISIONED',
    );
    const index = {
      IndexName: 'by-colour',
      KeySchema: [{ AttributeName: 'colour', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'ALL' },
    };
    await expect(restore(arn, 'other', { GlobalSecondaryIndexOverride: [index] })).rejects.toThrow(
      'do not match the indexes of the source: by-colour',
    );
  });

  it('refuses what DynamoDB refuses', async () => {
    const arn = await backUp();
    await expect(restore(arn, 'orders')).rejects.toMatchObject({ name: 'TableAlreadyExistsException' });
    await expect(
      call(engine, 'CreateBackup', { TableName: 'nowhere', BackupName: 'nightly' }),
    ).rejects.toMatchObject({ name: 'TableNotFoundException', message: 'Table not found: nowhere' });
    // Until all of its items are there, a table is neither read nor written, and its name is taken.
    await restore(arn, 'restored');
    const [described, scanned, dropped, deleted] = await Promise.allSettled([
      call(engine, 'DescribeTable', { TableName: 'restored' }),
      scan('restored'),
      call(engine, 'DeleteTable', { TableName: 'restored' }),
      call(engine, 'DeleteBackup', { BackupArn: arn }),
    ]);
    expect(described).toMatchObject({ value: { Table: { TableStatus: 'CREATING' } } });
    expect(scanned).toMatchObject({ reason: { name: 'ResourceNotFoundException' } });
    expect(dropped).toMatchObject({ reason: { name: 'ResourceInUseException' } });
    expect(deleted).toMatchObject({ reason: { name: 'BackupInUseException' } });
    await expect(restore(arn, 'restored')).rejects.toMatchObject({ name: 'TableAlreadyExistsException' });
  });
});
