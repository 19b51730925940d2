import { rm } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { planRestore, restoreBackup } from '../../src/store/backup/restore.ts';
import { readStatus } from '../../src/store/backup/status.ts';
import { createFixture, type Fixture, hourMs, silent } from './backup-fixture.ts';
import { compare, createModel, type Model } from './model.ts';

let fixture: Fixture;
afterEach(() => fixture.close());

const keepMs = 10 * hourMs;

// Ships a store, loses its folder, and begins another one in its place an hour later.
async function loseStore() {
  fixture = await createFixture({ settings: { keepMs } });
  const model = await createModel(fixture.engine);
  await fixture.shipper.ship();
  await fixture.shipper.maintain(fixture.signal);
  await putOrder(fixture.engine, model, 'old');
  await fixture.shipper.finish();
  const lastAt = (await fixture.engine.journal.position())!.at;
  await fixture.engine.close();
  await rm(fixture.path, { recursive: true });
  fixture.clock.pass(hourMs);
  const engine = await fixture.open(fixture.path);
  const newer = await createModel(engine);
  const shipper = fixture.shipperOf(engine, fixture.path);
  await shipper.ship();
  await shipper.maintain(fixture.signal);
  return { model, lastAt, engine, newer, shipper };
}

async function putOrder({ client }: Fixture['engine'], model: Model, pk: string): Promise<void> {
  const item = { pk, owner: 'x', n: 1 };
  await client.put({ TableName: 'orders', Item: item });
  model.tables.get('orders')!.set(pk, item);
}

async function expectModel(model: Model, untilMs?: number): Promise<void> {
  const restored = await fixture.restore(untilMs);
  expect(await compare(restored, model)).toEqual([]);
  await restored.close();
}

describe('a backup of a store that was lost', () => {
  it('is kept when an empty store starts in its place, which is logged', async () => {
    const { model, lastAt, shipper } = await loseStore();
    expect(fixture.lines.join()).toContain('backups from before this store was made');
    // Objects have the time of the disk, so theirs is long past as well.
    for (let rounds = 0; rounds < 3; rounds++) {
      fixture.clock.pass(24 * hourMs);
      await shipper.ship();
      await shipper.maintain(fixture.signal);
    }
    await expectModel(model, lastAt);
  });

  it('is kept apart from the backup of the next store', async () => {
    const { model, engine, newer, shipper } = await loseStore();
    await putOrder(engine, newer, 'new');
    await shipper.finish();
    const refusal = await planRestore(fixture.target).then(String, String);
    const said = /made at .* started empty.*--to-time (\S+), .*--to-time (\S+)$/.exec(refusal);
    expect(said, refusal).not.toBeNull();
    const [older, later] = [Date.parse(said![1]!), Date.parse(said![2]!)];
    await expectModel(model, older);
    await expectModel(newer, later);
    const { ranges } = await readStatus(fixture.target, fixture.clock.now());
    expect(ranges.map(({ until }) => Math.ceil(until))).toEqual([older, later]);
    expect(ranges[1]!.madeAt! - ranges[0]!.madeAt!).toBeGreaterThan(hourMs - 10_000);

    // A store that was restored has tables as old as before.
    const path = fixture.nextFolder();
    await restoreBackup(fixture.target, await planRestore(fixture.target, older), path, silent);
    const again = fixture.shipperOf(await fixture.open(path), path);
    await again.ship();
    await again.maintain(fixture.signal);
    await expectModel(model);
  });
});
