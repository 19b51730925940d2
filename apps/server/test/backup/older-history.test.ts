import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createEngine } from '@stak/engine';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { historyOfBackup } from '../../src/store/backup/older-history.ts';
import { createFixture, type Fixture } from './backup-fixture.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

it('a table is restored by a request from the backup, as of a moment that the folder does not have any more', async () => {
  const { engine, shipper, clock, signal, path, folder } = fixture;
  await engine.execute('CreateTable', {
    TableName: 'notes',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  });
  await engine.execute('UpdateContinuousBackups', {
    TableName: 'notes',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  });
  await shipper.ship();
  await shipper.maintain(signal);
  await engine.client.put({ TableName: 'notes', Item: { id: 'one', text: 'before' } });
  const at = clock.now();
  await engine.client.put({ TableName: 'notes', Item: { id: 'one', text: 'after' } });
  await shipper.finish();
  await engine.close();
  rmSync(join(path, 'history'), { recursive: true, force: true });

  const again = await createEngine({
    path,
    clock,
    sweepIntervalMs: 0,
    history: { older: historyOfBackup({ location: { kind: 'folder', path: folder }, keys: [] }) },
  });
  try {
    await again.execute('RestoreTableToPointInTime', {
      SourceTableName: 'notes',
      TargetTableName: 'restored',
      RestoreDateTime: at / 1000,
    });
    await again.settled();
    const { Item } = await again.client.get({ TableName: 'restored', Key: { id: 'one' } });
    expect(Item).toEqual({ id: 'one', text: 'before' });
  } finally {
    await again.close();
  }
});
