import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from '@stak/engine';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bundleSegments } from '../../src/store/backup/maintenance.ts';
import { planRestore, restoreBackup } from '../../src/store/backup/restore.ts';
import { listHistories, manifestKey } from '../../src/store/backup/target.ts';
import { createFixture, type Fixture, hourMs, silent } from './backup-fixture.ts';

// A target with something wrong in it is reported, and never taken for a backup.

const TableName = 'items';
let fixture: Fixture;

beforeEach(async () => {
  fixture = await createFixture();
  await fixture.engine.execute('CreateTable', {
    TableName,
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  });
  await fixture.shipper.ship();
  await fixture.shipper.maintain(fixture.signal);
});
afterEach(() => fixture.close());

const put = (pk: string) => fixture.engine.client.put({ TableName, Item: { pk } });
const names = async (engine: Engine) =>
  (await engine.client.scan({ TableName, ConsistentRead: true })).Items!.map(({ pk }) => pk).sort();
const restore = async () =>
  restoreBackup(fixture.target, await planRestore(fixture.target), fixture.nextFolder(), silent);

it('a segment that another shipper has written does not count as written', async () => {
  const { engine, path, shipper } = fixture;
  const other = fixture.shipperOf(engine, path);
  await other.ship();
  await put('a');
  await shipper.ship();
  await put('b');
  const before = other.state().shippedUntil;
  await expect(other.ship()).rejects.toThrow('already exists');
  expect(other.state().shippedUntil).toBe(before);
  await other.ship();
  await put('c');
  await other.ship();
  const restored = await fixture.restore();
  expect(await names(restored)).toEqual(['a', 'b', 'c']);
});

it('a gap between segments is reported, also after others were put together', async () => {
  for (let n = 0; n < 12; n++) {
    await put(String(n));
    await fixture.shipper.ship();
  }
  const [history] = await listHistories(fixture.target.objects);
  const missing = history!.log.find(({ from }) => from === 7)!;
  await fixture.target.objects.delete(missing.key);
  await bundleSegments(fixture.target, history!.id, 4);
  const [bundled] = await listHistories(fixture.target.objects);
  expect(bundled!.log.some(({ from, to }) => to > from)).toBe(true);
  expect(bundled!.log.filter(({ from, to }) => from <= 7 && to >= 7)).toEqual([]);
  await expect(restore()).rejects.toThrow(/segment 7 is missing before/);
});

it('the manifest of another snapshot is refused', async () => {
  await put('a');
  await fixture.shipper.ship();
  fixture.clock.pass(7 * hourMs);
  await put('b');
  await fixture.shipper.ship();
  await fixture.shipper.maintain(fixture.signal);
  const [history] = await listHistories(fixture.target.objects);
  const [first, second] = history!.snapshots;
  const fileOf = (snapshot: typeof first) => join(fixture.folder, manifestKey(snapshot!.folder));
  await rm(fileOf(second));
  await cp(fileOf(first), fileOf(second));
  await expect(restore()).rejects.toThrow(/belongs to another snapshot/);
  expect(await readdir(fixture.root)).not.toContain('restored-1');
});
