import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { createEngine } from '../src/index.ts';
import { createRandom } from './crash/random.ts';
import { call, hashTable, newIndex, testClock } from './engine-fixture.ts';

const clock = testClock();
const hour = 60 * 60_000;
let folder: string;
let engine: Engine;

const TableName = 'notes';
const never = new AbortController().signal;
const open = (history?: { keepMs?: number; mostBytes?: number }, path = folder) =>
  createEngine({
    path,
    clock,
    sweepIntervalMs: 0,
    journal: { fileBytes: 16 * 1024 },
    ...(history && { history }),
  });
const filesOfHistory = () => readdirSync(join(folder, 'history'));
// Files of the journal are archived after a checkpoint, and then used again.
const keep = async () => {
  await engine.journal.checkpoint();
  await engine.history!.maintain(never);
  await engine.journal.checkpoint();
};
const enable = () =>
  call(engine, 'UpdateContinuousBackups', {
    TableName,
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  });
const contentOf = async (from: Engine, name: string) =>
  new Map(((await from.client.scan({ TableName: name })).Items ?? []).map(item => [item.pk as string, item]));

async function restoreAt(ms: number | undefined, TargetTableName: string) {
  await call(engine, 'RestoreTableToPointInTime', {
    SourceTableName: TableName,
    TargetTableName,
    ...(ms === undefined ? { UseLatestRestorableTime: true } : { RestoreDateTime: ms / 1000 }),
  });
  await engine.settled();
  return contentOf(engine, TargetTableName);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stak-history-'));
  engine = await open();
  await engine.history!.maintain(never);
  await call(engine, 'CreateTable', hashTable(TableName));
  await call(engine, 'UpdateTable', { TableName, ...newIndex('by-owner', 'owner') });
  await engine.settled();
  await enable();
});
afterEach(async () => {
  await engine.close();
  rmSync(folder, { recursive: true });
});

it.each([1, 2, 3])(
  'a table is restored as it was at any moment, whatever was written (seed %i)',
  async seed => {
    const { below } = createRandom('history', seed);
    const states: { at: number; items: Map<string, unknown> }[] = [];
    const model = new Map<string, unknown>();
    const began = clock.ms;
    for (let n = 0; n < 400; n++) {
      clock.ms += below(3) === 0 ? below(5000) : below(3);
      const pk = `k${below(60)}`;
      if (below(5) === 0) {
        await engine.client.delete({ TableName, Key: { pk } });
        model.delete(pk);
      } else {
        const item = { pk, owner: `o${below(3)}`, n, text: 'x'.repeat(below(4000)) };
        await engine.client.put({ TableName, Item: item });
        model.set(pk, item);
      }
      states.push({ at: clock.ms, items: new Map(model) });
      if (below(60) === 0) await keep();
      if (below(150) === 0) {
        await engine.close();
        engine = await open();
      }
    }
    const stateAt = (ms: number) => states.findLast(({ at }) => at <= ms)?.items ?? new Map();
    for (let n = 0; n < 12; n++) {
      const ms = n === 0 ? began : states[below(states.length)]!.at + below(3) - 1;
      expect(await restoreAt(ms, `restored-${n}`), `at ${ms}`).toEqual(stateAt(ms));
    }
    expect(await restoreAt(undefined, 'latest')).toEqual(model);
    expect(engine.check().problems).toEqual([]);
    expect(filesOfHistory().filter(name => name.startsWith('commits-')).length).toBeGreaterThan(3);

    // The whole store, in another folder.
    const { at, items } = states[below(states.length)]!;
    const copy = join(folder, 'copy');
    await engine.history!.restore(copy, at);
    const restored = await open(undefined, copy);
    expect(await contentOf(restored, TableName)).toEqual(items.size > 0 ? stateAt(at) : new Map());
    expect(restored.check().problems).toEqual([]);
    await restored.close();
  },
  60_000,
);

it('times of a description are those that can be restored', async () => {
  const described = async () =>
    (await call(engine, 'DescribeContinuousBackups', { TableName })).ContinuousBackupsDescription
      .PointInTimeRecoveryDescription;
  const created = clock.ms;
  clock.ms += hour;
  expect(await described()).toMatchObject({
    PointInTimeRecoveryStatus: 'ENABLED',
    EarliestRestorableDateTime: created / 1000,
    LatestRestorableDateTime: clock.ms / 1000,
  });
  await expect(restoreAt(created - 1000, 'before')).rejects.toMatchObject({
    name: 'InvalidRestoreTimeException',
    message:
      'An invalid restore time was specified. RestoreDateTime must be between EarliestRestorableDateTime and ' +
      'LatestRestorableDateTime.',
  });
  await expect(restoreAt(clock.ms + 1000, 'after')).rejects.toMatchObject({
    name: 'InvalidRestoreTimeException',
  });
});

it('what is older than a day is removed, and what is newer stays', async () => {
  for (let n = 0; n < 60; n++) {
    clock.ms += hour;
    await engine.client.put({ TableName, Item: { pk: 'one', n, text: 'x'.repeat(20_000) } });
    await keep();
  }
  const { earliest } = await engine.history!.range();
  expect(clock.ms - earliest!).toBeGreaterThanOrEqual(24 * hour);
  expect(clock.ms - earliest!).toBeLessThan(38 * hour);
  expect((await restoreAt(clock.ms - 23 * hour, 'yesterday')).get('one')).toMatchObject({ n: 36 });
});

it('the bytes of a history are bounded: it then begins later, and the newest moments are kept', async () => {
  await engine.close();
  const mostBytes = 200_000;
  engine = await open({ mostBytes });
  const { below } = createRandom('bytes', 1);
  const text = () => Array.from({ length: 300 }, () => below(2 ** 31).toString(36)).join('');
  const created = clock.ms;
  for (let n = 0; n < 300; n++) {
    clock.ms += 1000;
    await engine.client.put({ TableName, Item: { pk: `k${n % 10}`, n, text: text() } });
    if (n % 5 === 0) await keep();
    expect((await engine.history!.range()).bytes).toBeLessThan(1.6 * mostBytes);
  }
  const { earliest } = await engine.history!.range();
  expect(earliest).toBeGreaterThan(created);
  const at = Math.ceil(earliest!);
  const oldest = await restoreAt(at, 'oldest');
  expect(Math.max(...[...oldest.values()].map(({ n }) => n as number))).toBe((at - created) / 1000 - 1);
  expect((await restoreAt(clock.ms - 5000, 'recent')).get('k4')).toMatchObject({ n: 294 });
});

it('after a gap of the journal, a new snapshot begins, and moments in the gap are refused', async () => {
  await engine.client.put({ TableName, Item: { pk: 'one', n: 1 } });
  const before = clock.ms;
  clock.ms += hour;
  for (let n = 0; n < 5; n++)
    await engine.client.put({ TableName, Item: { pk: 'many', text: 'x'.repeat(30_000), n } });
  const inside = clock.ms;
  clock.ms += hour;
  await engine.client.put({ TableName, Item: { pk: 'many', text: 'x'.repeat(30_000) } });
  await engine.journal.checkpoint();
  // The files of the journal that are not archived yet are lost.
  for (const name of readdirSync(join(folder, 'journal'))
    .filter(name => name.endsWith('.log'))
    .sort()
    .slice(0, 3))
    rmSync(join(folder, 'journal', name));
  await engine.history!.maintain(never);
  clock.ms += hour;
  await engine.client.put({ TableName, Item: { pk: 'one', n: 2 } });
  const { earliest } = await engine.history!.range();
  expect(earliest).toBeGreaterThan(inside);
  await expect(restoreAt(before, 'early')).rejects.toMatchObject({ name: 'InvalidRestoreTimeException' });
  expect((await restoreAt(clock.ms - 1, 'later')).get('one')).toMatchObject({ n: 1 });
  expect((await restoreAt(clock.ms, 'latest')).get('one')).toMatchObject({ n: 2 });
});

it('a restore that is interrupted is finished by the next process', async () => {
  for (let n = 0; n < 700; n++) await engine.client.put({ TableName, Item: { pk: `k${n}`, n } });
  const at = clock.ms;
  clock.ms += 1000;
  await engine.client.delete({ TableName, Key: { pk: 'k1' } });
  await call(engine, 'RestoreTableToPointInTime', {
    SourceTableName: TableName,
    TargetTableName: 'restored',
    RestoreDateTime: at / 1000,
  });
  await engine.close();
  engine = await open();
  await engine.settled();
  expect((await contentOf(engine, 'restored')).size).toBe(700);
  expect(engine.check().problems).toEqual([]);
});
