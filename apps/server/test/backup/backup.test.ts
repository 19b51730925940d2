import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '@stak/engine';
import { seededRandom } from '@stak/kit';
import { folderObjects, s3Objects } from '@stak/lake/maintenance';
import { startBucket } from '@stak/lake/s3-stub';
import { afterEach, describe, expect, it } from 'vitest';
import * as limits from '../../src/store/backup/limits.ts';
import { bundleSegments } from '../../src/store/backup/maintenance.ts';
import { planRestore, restoreBackup } from '../../src/store/backup/restore.ts';
import { readStatus } from '../../src/store/backup/status.ts';
import { listHistories, type TargetObjects } from '../../src/store/backup/target.ts';
import { createFixture, type Fixture, hourMs, newKey, silent } from './backup-fixture.ts';
import { compare, copyModel, createModel, type Model, step } from './model.ts';

let fixture: Fixture;
let below: (limit: number) => number;
afterEach(() => fixture.close());

async function begin(options: Parameters<typeof createFixture>[0] = {}): Promise<Model> {
  fixture = await createFixture(options);
  const random = seededRandom(7);
  below = limit => Math.floor(random() * limit);
  const model = await createModel(fixture.engine);
  await fixture.shipper.ship();
  await fixture.shipper.maintain(fixture.signal);
  return model;
}

// Some steps, each followed by a segment.
async function work(model: Model, steps: number, start = 0): Promise<void> {
  for (let n = start; n < start + steps; n++) {
    await step(fixture.engine, model, below, n);
    await fixture.shipper.ship();
  }
}

async function putOrder(engine: Engine, model: Model, pk: string, n = 1): Promise<void> {
  const item = { pk, owner: 'x', n };
  await engine.client.put({ TableName: 'orders', Item: item });
  model.tables.get('orders')!.set(pk, item);
}

const expectModel = async (model: Model, untilMs?: number) => {
  const restored = await fixture.restore(untilMs);
  expect(await compare(restored, model)).toEqual([]);
  await restored.close();
};

const logFiles = async (): Promise<string[]> => {
  const [{ id } = { id: '' }] = await listHistories(fixture.target.objects);
  const folder = join(fixture.folder, id, 'log');
  return (await readdir(folder)).sort().map(name => join(folder, name));
};

describe('a backup', () => {
  it('restores 20 moments of one history, each as the model predicts', async () => {
    const seed = Date.now() % 1_000_000;
    const model = await begin({ keys: [newKey('b1')] });
    const random = seededRandom(seed);
    below = limit => Math.floor(random() * limit);
    const moments: { at: number; model: Model }[] = [];
    for (let n = 0; n < 120; n++) {
      await step(fixture.engine, model, below, n);
      moments.push({ at: fixture.clock.now(), model: copyModel(model) });
      if (below(3) === 0) await fixture.shipper.ship();
      if (n === 60) {
        fixture.clock.pass(7 * hourMs);
        await fixture.shipper.maintain(fixture.signal); // a second snapshot
      }
    }
    fixture.clock.pass(limits.settledMs + limits.headMs);
    await fixture.shipper.ship();
    for (let i = 0; i < 20; i++) {
      const n = below(moments.length);
      const restored = await fixture.restore(moments[n]!.at);
      expect(await compare(restored, moments[n]!.model), `seed ${seed}, moment ${n}`).toEqual([]);
      await restored.close();
    }
  }, 60_000);

  it('resumes after a restart, and after lost responses', async () => {
    let failing: 'before' | 'after' | undefined;
    const lossy = (objects: TargetObjects): TargetObjects => ({
      ...objects,
      async putIfAbsent(key, body) {
        if (failing === 'before') throw new Error('unreachable');
        const isNew = await objects.putIfAbsent(key, body);
        if (failing === 'after') throw new Error('lost');
        return isNew;
      },
    });
    const elsewhere = await mkdtemp(join(tmpdir(), 'stak-target-'));
    const model = await begin({ objects: lossy(folderObjects(elsewhere)) });
    await work(model, 5);
    for (const mode of ['before', 'after'] as const) {
      failing = mode;
      await putOrder(fixture.engine, model, `${mode} 1`);
      await expect(fixture.shipper.ship()).rejects.toThrow();
      await putOrder(fixture.engine, model, `${mode} 2`);
      failing = undefined;
      await fixture.shipper.ship();
    }
    const again = fixture.shipperOf(fixture.engine, fixture.path);
    await putOrder(fixture.engine, model, 'last');
    await again.ship();
    await expectModel(model);
    expect(await listHistories(fixture.target.objects)).toHaveLength(1);
    await rm(elsewhere, { recursive: true });
  });

  it('works the same in a bucket, encrypted or not', async () => {
    const bucket = await startBucket();
    const objects = s3Objects({
      bucket: 'backups',
      prefix: 'stak',
      region: 'us-east-1',
      endpoint: bucket.endpoint,
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
      cache: '',
    });
    const model = await begin({ objects, keys: [newKey('b1')] });
    await work(model, 10);
    await fixture.shipper.finish();
    await expectModel(model);
    expect(bucket.keys().every(key => key.startsWith('stak/'))).toBe(true);
    objects.close();
    bucket.close();
  });

  it('starts a new history with a snapshot when the journal reaches its limit', async () => {
    const model = await begin({ limitBytes: 1024 });
    await work(model, 3);
    const [first] = await listHistories(fixture.target.objects);
    const big = { pk: 'big', owner: 'x', body: 'x'.repeat(390_000) };
    // The target is away: nothing is shipped while the journal fills.
    for (let n = 0; n < 14; n++)
      await fixture.engine.client.put({ TableName: 'orders', Item: { ...big, n } });
    model.tables.get('orders')!.set('big', { ...big, n: 13 });
    const gapAt = fixture.clock.now();
    await fixture.engine.journal.checkpoint();
    fixture.clock.pass(limits.settledMs * 5);
    await fixture.shipper.ship(); // what there is of it
    expect(fixture.shipper.state().gaps).toBe(1);
    await work(model, 3, 100);
    await fixture.shipper.maintain(fixture.signal);
    await fixture.shipper.ship();
    await expectModel(model);
    const histories = await listHistories(fixture.target.objects);
    expect(histories.map(({ id }) => id)).toHaveLength(2);
    expect(histories[0]!.id).toBe(first!.id);
    await expect(planRestore(fixture.target, gapAt)).rejects.toThrow(/is in a gap of the backup/);
    expect((await readStatus(fixture.target, fixture.clock.now())).gaps).toHaveLength(1);
    expect(fixture.lines.join()).toContain('starting a new one');
  });

  it('starts a new history when commits are missing in the journal, as after a power failure', async () => {
    const model = await begin();
    await work(model, 3);
    await step(fixture.engine, model, below, 50);
    await rm(join(fixture.path, 'journal'), { recursive: true });
    await fixture.shipper.ship();
    expect(fixture.shipper.state().gaps).toBe(1);
    await fixture.shipper.ship();
    await fixture.shipper.maintain(fixture.signal);
    await work(model, 3, 60);
    await expectModel(model);
  });

  it('keeps the commits of a copied store apart from those of the original', async () => {
    const model = await begin();
    await work(model, 4);
    await fixture.engine.close();
    const copyPath = join(fixture.root, 'copy');
    await cp(fixture.path, copyPath, { recursive: true });
    const [one, other] = [await fixture.open(fixture.path), await fixture.open(copyPath)];
    const [shipper, otherShipper] = [
      fixture.shipperOf(one, fixture.path),
      fixture.shipperOf(other, copyPath),
    ];
    await putOrder(one, copyModel(model), 'one');
    await putOrder(other, model, 'other');
    await shipper.ship();
    await otherShipper.ship();
    expect(otherShipper.state().gaps).toBe(1);
    await otherShipper.ship();
    await otherShipper.maintain(fixture.signal);
    const { history } = otherShipper.state();
    expect(history).not.toBe(shipper.state().history);
    await expectModel(model);
  });

  it('keeps what its retention requires, and removes the rest', async () => {
    const model = await begin({ settings: { keepMs: 10 * hourMs } });
    const moments: { at: number; model: Model }[] = [];
    for (let n = 0; n < 6; n++) {
      await work(model, 3, n * 10);
      moments.push({ at: fixture.clock.now(), model: copyModel(model) });
      await fixture.shipper.ship();
      fixture.clock.pass(7 * hourMs);
      await step(fixture.engine, model, below, n * 10 + 5);
      await fixture.shipper.ship();
      await fixture.shipper.maintain(fixture.signal);
    }
    const { snapshots, log } = (await listHistories(fixture.target.objects))[0]!;
    expect(snapshots).toHaveLength(3);
    expect(log[0]!.from).toBeGreaterThan(1);
    await expect(planRestore(fixture.target, moments[0]!.at)).rejects.toThrow(/the backup begins at/);
    for (const moment of moments.slice(-2)) await expectModel(moment.model, moment.at);
  });

  it('merges many small segments, which are verified as before', async () => {
    const model = await begin();
    const { objects } = fixture.target;
    for (let n = 0; n < 30; n++) {
      await putOrder(fixture.engine, model, 'same', n);
      await fixture.shipper.ship();
    }
    const [history] = await listHistories(objects);
    await bundleSegments(fixture.target, history!.id, 10);
    await work(model, 2, 1000);
    expect((await logFiles()).length).toBeLessThan(6);
    await expectModel(model);
    const [bundle] = await logFiles();
    const bytes = await readFile(bundle!);
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(bundle!, bytes);
    await expect(planRestore(fixture.target).then(plan => restoreTo(plan))).rejects.toThrow(
      /segment \d+ .* is damaged/,
    );
  }, 60_000);
});

const restoreTo = (plan: Awaited<ReturnType<typeof planRestore>>) =>
  restoreBackup(fixture.target, plan, fixture.nextFolder(), silent);

describe('a restore', () => {
  const failing = async () => {
    const path = fixture.nextFolder();
    const error = await planRestore(fixture.target)
      .then(plan => restoreBackup(fixture.target, plan, path, silent))
      .then(
        () => undefined,
        found => found as Error,
      );
    // Nothing that could be taken for a store is left.
    expect(await readdir(path).catch(() => [])).toEqual([]);
    return error?.message;
  };

  it('reports a segment that is damaged, missing, replaced or out of order, and stops', async () => {
    const model = await begin();
    await work(model, 30);
    await fixture.shipper.finish();
    const files = await logFiles();
    const third = await readFile(files[2]!);
    const broken = Buffer.from(third);
    broken[broken.length - 40]! ^= 1;
    await writeFile(files[2]!, broken);
    expect(await failing()).toMatch(/segment 3 .*\/0000000003\) is damaged/);
    await writeFile(files[2]!, third.subarray(0, third.length - 5));
    expect(await failing()).toMatch(/segment 3 .* is damaged/);
    await rm(files[2]!);
    expect(await failing()).toMatch(/segment 3 is missing before/);
    await writeFile(files[2]!, await readFile(files[3]!));
    expect(await failing()).toMatch(/segment 4 stands where segment 3 belongs/);
    await writeFile(files[2]!, third);
    await rename(files.at(-1)!, `${files.at(-1)}x`);
    expect(await failing()).toMatch(new RegExp(`segment ${files.length} is missing`));
    await rename(`${files.at(-1)}x`, files.at(-1)!);
    await expectModel(model);
  });

  it('reports a segment of another history, and invalid parts of a snapshot', async () => {
    const model = await begin();
    await work(model, 8);
    const files = await logFiles();
    const second = await readFile(files[1]!);
    const own = fixture;
    await begin();
    await work(await createSame(), 4);
    const foreign = await readFile((await logFiles())[1]!);
    await fixture.close();
    fixture = own;
    await writeFile(files[1]!, foreign);
    expect(await failing()).toMatch(/segment 2 is of another history/);
    await writeFile(files[1]!, second);
    const { snapshots } = (await listHistories(fixture.target.objects))[0]!;
    const part = join(fixture.folder, snapshots[0]!.parts[0]!);
    const bytes = await readFile(part);
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(part, bytes);
    expect(await failing()).toMatch(/snapshots.* is damaged/);
    await rm(part);
    expect(await failing()).toMatch(/snapshots.* is missing/);
  });

  const createSame = async (): Promise<Model> => ({
    tables: new Map([
      ['orders', new Map()],
      ['stock', new Map(Array.from({ length: 4 }, (_, n) => [`counter-${n}`, { units: 100 }]))],
    ]),
    indexes: new Set(),
  });

  it('needs the key that the backup was encrypted with', async () => {
    const key = newKey('b1');
    const model = await begin({ keys: [key] });
    await work(model, 3);
    const { objects } = fixture.target;
    await expect(fixture.restore(undefined, { objects, keys: [] })).rejects.toThrow(
      /encrypted with the key "b1"/,
    );
    await expect(fixture.restore(undefined, { objects, keys: [newKey('b2')] })).rejects.toThrow(
      /the key "b1"/,
    );
    await expect(fixture.restore(undefined, { objects, keys: [newKey('b1')] })).rejects.toThrow(
      /does not open with the key "b1"/,
    );
    const rotated = await fixture.restore(undefined, { objects, keys: [newKey('b2'), key] });
    expect(await compare(rotated, model)).toEqual([]);
    const text = Buffer.from('counter-0');
    for await (const { key: name } of objects.list(''))
      expect(Buffer.from((await objects.get(name))!).includes(text)).toBe(false);
  });

  it('writes only to an empty folder, apart from its key', async () => {
    const model = await begin();
    await work(model, 2);
    const plan = await planRestore(fixture.target);
    const before = await readdir(fixture.path);
    await expect(restoreBackup(fixture.target, plan, fixture.path, silent)).rejects.toThrow(/is not empty/);
    expect(await readdir(fixture.path)).toEqual(before);
    const path = fixture.nextFolder();
    await mkdir(join(path, 'restoring'), { recursive: true }); // of one that was stopped in the middle
    await writeFile(join(path, 'secret-key'), 'local:x');
    await restoreBackup(fixture.target, plan, path, silent);
    expect((await readdir(path)).sort()).toEqual(['secret-key', 'stak.mdb']);
  });

  it('lists the available moments if the requested one is not among them', async () => {
    fixture = await createFixture();
    await expect(planRestore(fixture.target)).rejects.toThrow(/no complete snapshot/);
    await fixture.close();
    const model = await begin();
    await work(model, 2);
    await fixture.shipper.finish();
    await expect(planRestore(fixture.target, fixture.clock.now() + hourMs)).rejects.toThrow(
      /the backup goes until \d{4}-.*; leave out --to-time/,
    );
    await expect(planRestore(fixture.target, Date.now() - hourMs)).rejects.toThrow(/the backup begins at/);
  });

  it('can be backed up to the same target again, and both histories can be restored', async () => {
    const model = await begin();
    await work(model, 3);
    const old = { at: fixture.clock.now(), model: copyModel(model) };
    await work(model, 3, 10);
    await fixture.shipper.finish();
    const path = fixture.nextFolder();
    await restoreBackup(fixture.target, await planRestore(fixture.target, old.at), path, silent);
    const engine = await fixture.open(path);
    expect(await compare(engine, old.model)).toEqual([]);
    const shipper = fixture.shipperOf(engine, path);
    await shipper.ship();
    await shipper.maintain(fixture.signal);
    const next = copyModel(old.model);
    await step(engine, next, below, 200);
    await shipper.ship();
    await expectModel(next);
    await expectModel(old.model, old.at);
  });
});
