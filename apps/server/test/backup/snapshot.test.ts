import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { seededRandom } from '@stak/kit';
import { afterEach, describe, expect, it } from 'vitest';
import * as limits from '../../src/store/backup/limits.ts';
import { planRestore } from '../../src/store/backup/restore.ts';
import { listHistories } from '../../src/store/backup/target.ts';
import { createFixture, type Fixture, hourMs, newKey } from './backup-fixture.ts';
import { compare, copyModel, createModel, type Model, step } from './model.ts';

let fixture: Fixture;
let model: Model;
afterEach(() => fixture.close());

const random = seededRandom(11);
const below = (limit: number): number => Math.floor(random() * limit);

async function begin(options: Parameters<typeof createFixture>[0] = {}): Promise<void> {
  fixture = await createFixture(options);
  model = await createModel(fixture.engine);
  await fixture.shipper.ship();
  await fixture.shipper.maintain(fixture.signal);
}

async function putOrder(pk: string): Promise<void> {
  const item = { pk, owner: 'x', n: 1 };
  await fixture.engine.client.put({ TableName: 'orders', Item: item });
  model.tables.get('orders')!.set(pk, item);
}

async function expectModel(then: Model, untilMs?: number): Promise<void> {
  const restored = await fixture.restore(untilMs);
  expect(await compare(restored, then)).toEqual([]);
  await restored.close();
}

describe('a snapshot', () => {
  it('is taken while the store is written, and moments before, during and after it can be restored', async () => {
    await begin({ keys: [newKey('b1')] });
    for (let n = 0; n < 300; n++) await putOrder(`large ${'x'.repeat(900)} ${n}`);
    const moments: { at: number; model: Model }[] = [];
    let steps = 0;
    const moment = async () => {
      await step(fixture.engine, model, below, steps++);
      moments.push({ at: fixture.clock.now(), model: copyModel(model) });
    };
    await moment();
    const [began] = moments;
    fixture.clock.pass(7 * hourMs);
    fixture.clock.sleep = moment; // between its pieces
    await fixture.shipper.maintain(fixture.signal);
    fixture.clock.sleep = async () => {};
    expect(steps).toBeGreaterThan(3);
    await moment();
    fixture.clock.pass(limits.settledMs + limits.headMs);
    await fixture.shipper.ship();
    for (const [n, { at, model: then }] of moments.entries()) {
      const restored = await fixture.restore(at);
      expect(await compare(restored, then), `moment ${n}`).toEqual([]);
      await restored.close();
    }
    await expectModel(model);
    // Without the one before, what is within it cannot be gone back to, and is not made up.
    const [first] = (await listHistories(fixture.target.objects))[0]!.snapshots;
    await rm(join(fixture.folder, first!.folder), { recursive: true });
    await expect(planRestore(fixture.target, moments[1]!.at)).rejects.toThrow(/the backup begins at/);
    await expect(planRestore(fixture.target, began!.at)).rejects.toThrow(/the backup begins at/);
    await expectModel(moments.at(-1)!.model, moments.at(-1)!.at);
  });

  it('is discarded if the journal was interrupted', async () => {
    await begin();
    fixture.clock.pass(7 * hourMs);
    fixture.clock.sleep = async () => {
      fixture.clock.sleep = async () => {};
      await fixture.engine.journal.begin({ limitBytes: 1024 ** 3 });
      await putOrder('after the break');
    };
    await expect(fixture.shipper.maintain(fixture.signal)).rejects.toThrow(/was restarted/);
    const [{ snapshots } = { snapshots: [] }] = await listHistories(fixture.target.objects);
    expect(snapshots.map(({ isComplete }) => isComplete)).toEqual([true]);
    await fixture.shipper.ship();
    await fixture.shipper.maintain(fixture.signal);
    await expectModel(model);
  });
});
