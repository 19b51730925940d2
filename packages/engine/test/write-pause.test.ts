import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createEngine, type Engine } from '../src/index.ts';
import { hashTable } from './engine-fixture.ts';

let folder: string;
let nowMs = 0;
let one: Engine;
let other: Engine;
const clock = { now: () => nowMs };
const open = () => createEngine({ path: folder, clock, sweepIntervalMs: 0 });

beforeEach(async () => {
  nowMs = 1_767_225_600_000;
  folder = await mkdtemp(join(tmpdir(), 'stak-pause-'));
  [one, other] = [await open(), await open()];
  await one.execute('CreateTable', hashTable('things'));
});
afterEach(async () => {
  await Promise.all([one.close(), other.close()]);
  await rm(folder, { recursive: true });
});

const put = (engine: Engine, pk: string) => engine.client.put({ TableName: 'things', Item: { pk } });
const paused = { name: 'ThrottlingException', message: 'writes are paused for a moment' };

it('refuses writes of everyone who has the store open, and allows reads', async () => {
  await put(other, 'before');
  await one.writePause.start('me', 5_000);
  await expect(put(one, 'now')).rejects.toMatchObject(paused);
  await expect(put(other, 'now')).rejects.toMatchObject(paused);
  await expect(other.execute('CreateTable', hashTable('more'))).rejects.toMatchObject(paused);
  expect(await other.client.get({ TableName: 'things', Key: { pk: 'before' } })).toHaveProperty('Item');
  await one.writePause.end('me');
  await put(other, 'after');
});

it('expires, and cannot be made final once another has written', async () => {
  await one.writePause.start('me', 5_000);
  nowMs += 5_000;
  expect(other.writePause.read()).toBeUndefined();
  await put(other, 'late');
  nowMs -= 1_000; // a clock that is set back must not bring it back
  await expect(one.writePause.makeFinal('me', {})).rejects.toThrow('over too early');
  await put(one, 'later');
});

it('belongs to the process that started it', async () => {
  await one.writePause.start('me', 5_000);
  await expect(other.writePause.start('you', 5_000)).rejects.toThrow('paused by me');
  await other.writePause.end('you');
  await expect(put(other, 'now')).rejects.toMatchObject(paused);
  await expect(other.writePause.makeFinal('you', {})).rejects.toThrow('over too early');
});

it('is final if it was made so, also for those who open the store later', async () => {
  await one.writePause.start('me', 5_000);
  await one.writePause.makeFinal('me', { to: 'elsewhere' });
  nowMs += 60_000;
  await one.writePause.end('me');
  await other.close();
  other = await open();
  expect(other.writePause.read()).toEqual({ by: 'me', until: null, note: { to: 'elsewhere' } });
  await expect(put(other, 'now')).rejects.toThrow('has moved elsewhere');
  await expect(one.writePause.start('me', 5_000)).rejects.toThrow('has moved elsewhere');
});

it('is a commit of the journal like any other', async () => {
  const { history } = await one.journal.begin({ limitBytes: 1e9 });
  await one.writePause.start('me', 5_000);
  await expect(put(other, 'refused')).rejects.toMatchObject(paused);
  nowMs += 5_000;
  await put(other, 'after');
  await one.writePause.start('me', 5_000);
  await one.writePause.end('me');
  await put(one, 'again');
  expect(await one.journal.position()).toMatchObject({ history });
});
