import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createEngine, type Engine, rebuildStore, StoreDamage } from '../src/index.ts';
import { joinPeers } from '../src/peers.ts';
import { space } from '../src/storage/keys.ts';
import { copyBytes, openStore } from '../src/storage/store.ts';
import { createRandom } from './crash/random.ts';
import { createNotes, keyOf, noteOf, TableName } from './damage/store.ts';

let folder: string;
let file: string;
let engine: Engine | undefined;
const never = new AbortController().signal;

const open = async () => {
  engine = await createEngine({ path: folder, sweepIntervalMs: 0, onError() {} });
  return engine;
};
const close = async () => {
  await engine?.close();
  engine = undefined;
};
const all = async (from: Engine) =>
  ((await from.client.scan({ TableName })).Items ?? []).toSorted(
    (a, b) => (a.sk as number) - (b.sk as number),
  );

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stak-repair-'));
  file = join(folder, 'stak.mdb');
  await createNotes(folder);
  const { history, client } = await open();
  await history!.maintain(never);
  // After the snapshot: these are in the journal alone.
  for (const n of [1, 2, 3]) await client.put({ TableName, Item: { ...noteOf(n), text: `later ${n}` } });
  await close();
});
afterEach(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

function change(text: string, isAll = true): void {
  const bytes = readFileSync(file);
  const written = Buffer.from(text);
  for (let at = bytes.indexOf(written); at >= 0; at = isAll ? bytes.indexOf(written, at + 1) : -1)
    bytes[at]! ^= 1;
  writeFileSync(file, bytes);
}

it('damaged items and change records are got back from the history and the journal', async () => {
  change(noteOf(26).text);
  change('later 2');
  const { client, check, repair } = await open();
  expect(check().problemCount).toBeGreaterThan(2);
  const { repaired, report } = await repair();
  expect(report.problems).toEqual([]);
  expect(repaired.length).toBeGreaterThan(2);
  expect((await client.get({ TableName, Key: keyOf(26) })).Item).toEqual(noteOf(26));
  expect((await client.get({ TableName, Key: keyOf(2) })).Item).toMatchObject({ text: 'later 2' });
});

it('without a history, what follows from the items is made again, and what is lost stays named', async () => {
  rmSync(join(folder, 'history'), { recursive: true });
  const store = openStore(folder);
  const [entry] = store.range(
    { start: Buffer.from([space.index]), end: Buffer.from([space.ttl]) },
    copyBytes,
  );
  await store.commit(() => store.remove(entry!.key));
  await store.close();
  change(noteOf(26).text);
  const { check, client, repair } = await open();
  const before = check().problems;
  expect(before.some(({ message }) => message.includes('is missing from the index'))).toBe(true);
  const { report } = await repair();
  expect(report.problems.some(({ message }) => message.includes('missing from the index'))).toBe(false);
  expect(report.problems.filter(({ kind }) => kind === 'item')).toMatchObject([
    { table: TableName, message: 'the item cannot be read' },
  ]);
  await expect(client.get({ TableName, Key: keyOf(26) })).rejects.toThrow('damaged');
  expect((await client.get({ TableName, Key: keyOf(27) })).Item).toEqual(noteOf(27));
});

it('a file with damaged pages is made again, with every commit, and the damaged one is kept', async () => {
  const before = await all(await open());
  await close();
  const whole = readFileSync(file);
  const { below } = createRandom('repair', 1);
  for (let page = 2; page < whole.length / 8192; page++)
    if (below(3) === 0) whole.fill(0, page * 8192, (page + 1) * 8192);
  writeFileSync(file, whole);
  await expect(open()).rejects.toThrow(StoreDamage);
  const { damagedFile } = await rebuildStore(folder);
  expect(readFileSync(damagedFile).equals(whole)).toBe(true);
  const rebuilt = await open();
  expect(await all(rebuilt)).toEqual(before);
  expect(rebuilt.check().problems).toEqual([]);
  // It is a store like any other, with a history of its own.
  await rebuilt.history!.maintain(never);
  await rebuilt.client.put({ TableName, Item: noteOf(149) });
  await close();
  expect((await (await open()).client.get({ TableName, Key: keyOf(149) })).Item).toEqual(noteOf(149));
});

it('a file is not made again for a process that opened it meanwhile', async () => {
  const before = readFileSync(file);
  const rebuilding = rebuildStore(folder);
  const nothing = () => {};
  const events = { onCommit: nothing, joined: nothing, gone: nothing, received: nothing };
  const peer = await joinPeers(folder, events);
  await expect(rebuilding).rejects.toThrow('is in use');
  peer.close();
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(readdirSync(folder)).not.toContain('rebuilding');
});

it('a file is not made again from a history that does not lead to the end of its journal', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'stak-repair-copy-'));
  cpSync(folder, copy, { recursive: true });
  for (const name of readdirSync(join(copy, 'journal')))
    if (name.endsWith('.log')) rmSync(join(copy, 'journal', name));
  await expect(rebuildStore(copy)).rejects.toThrow('does not lead to the end of its journal');
  rmSync(copy, { recursive: true });
});
