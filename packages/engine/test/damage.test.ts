import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createEngine } from '../src/index.ts';
import { checkPages } from '../src/storage/file.ts';
import { runDamage } from './damage/campaign.ts';
import { createNotes, keyOf, noteOf, numbers, TableName } from './damage/store.ts';

const pageBytes = 8192;
const seeds = process.env.STAK_LONG_TESTS ? 10_000 : 50;

async function storeOfNotes(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stak-damage-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await createNotes(folder);
  return folder;
}

it(
  'a damaged file is refused or named, or the damage is in bytes that nothing uses; nothing wrong is returned',
  async () => {
    const { code, signal, stderr, outcomes } = await runDamage(await storeOfNotes(), 1, seeds);
    expect({ code, signal }, `after seed ${outcomes.at(-1)?.seed ?? 0}: ${stderr}`).toEqual({
      code: 0,
      signal: null,
    });
    expect(outcomes).toHaveLength(seeds);
    expect(outcomes.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
    // A file with many flipped bits is never taken for a good one.
    const many = outcomes.filter(({ kind }) => kind === 'sixty-four flipped bits');
    expect(many.filter(({ refused, problems }) => !refused && problems.length === 0)).toEqual([]);
  },
  seeds * 1000,
);

it('a read of a damaged item is an error that names its key', async () => {
  const folder = await storeOfNotes();
  const file = join(folder, 'stak.mdb');
  const bytes = readFileSync(file);
  // The text of a note, wherever the file has it: in the item and in its change record.
  const written = Buffer.from(noteOf(26).text);
  for (let at = bytes.indexOf(written); at >= 0; at = bytes.indexOf(written, at + 1)) bytes[at]! ^= 1;
  writeFileSync(file, bytes);
  const engine = await createEngine({ path: folder, sweepIntervalMs: 0 });
  onTestFinished(() => engine.close());
  await expect(engine.client.get({ TableName, Key: keyOf(26) })).rejects.toMatchObject({
    name: 'InternalServerError',
    message: expect.stringMatching(/^A stored item is damaged \(key [0-9a-f]+\)/),
  });
  await expect(engine.client.scan({ TableName })).rejects.toThrow(
    /^A stored item is damaged \(key [0-9a-f]+\)/,
  );
  const { problems } = engine.check();
  expect(problems.filter(({ kind }) => kind === 'item')).toMatchObject([
    { table: TableName, message: 'the item cannot be read' },
  ]);
  expect((await engine.client.get({ TableName, Key: keyOf(27) })).Item).toEqual(noteOf(27));
});

it('a page that is not read when a store is opened is named by its check', async () => {
  const folder = await storeOfNotes();
  const file = join(folder, 'stak.mdb');
  expect(checkPages(file)).toEqual([]);
  const engine = await createEngine({ path: folder, sweepIntervalMs: 0 });
  onTestFinished(() => engine.close());
  expect(engine.check().problems).toEqual([]);
  const bytes = readFileSync(file);
  const page = leafPages(bytes).at(-1)!;
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.from([0xff, 0xff]), 0, 2, page * 8192 + 22);
  closeSync(handle);
  expect(engine.check()).toMatchObject({ problemCount: 1, problems: [{ kind: 'page', key: `${page}` }] });
});

it('of a file whose pages are verified as they are needed, only what is damaged is refused', async () => {
  const folder = await storeOfNotes();
  const file = join(folder, 'stak.mdb');
  const filler = await createEngine({ path: folder, sweepIntervalMs: 0, history: false });
  const text = 'x'.repeat(1500);
  await Promise.all(
    Array.from({ length: 6000 }, (_, sk) =>
      filler.client.put({ TableName, Item: { pk: 'filler', sk, text } }),
    ),
  );
  await filler.close();
  const bytes = readFileSync(file);
  // Plants each kind of damage that LMDB would follow: lengths, offsets and kinds of entries on a page.
  const leaves = leafPages(bytes).filter(page =>
    bytes.toString('latin1', page * pageBytes, (page + 1) * pageBytes).includes('filler'),
  );
  const damaged = leaves.slice(400, 430);
  for (const [n, page] of damaged.entries()) {
    const at = page * pageBytes + [20, 22, 24, 18, pageBytes - 1600][n % 5]!;
    bytes.fill(0xff, at, at + 2 + (n % 3));
  }
  writeFileSync(file, bytes);
  const engine = await createEngine({
    path: folder,
    sweepIntervalMs: 0,
    pagesVerifiedAtOpen: 20,
    onError() {},
  });
  onTestFinished(() => engine.close());
  const outcomes = await Promise.allSettled(
    Array.from({ length: 6000 }, (_, sk) => engine.client.get({ TableName, Key: { pk: 'filler', sk } })),
  );
  const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  expect(refused.length).toBeGreaterThan(100);
  expect(refused.length).toBeLessThan(4000);
  for (const { reason } of refused) expect(reason.message).toMatch(/damaged/);
  await expect(
    engine.client.query({
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'filler' },
      ScanIndexForward: false,
      Limit: 10,
    }),
  ).resolves.toMatchObject({ Count: 10 });
  await expect(engine.client.put({ TableName, Item: { ...keyOf(1), round: 1 } })).resolves.toBeDefined();
  expect(engine.check().problems.length).toBeGreaterThan(10);
});

// Each is a file that LMDB would read without a word.
it.each<[string, string, (bytes: Buffer) => void]>([
  [
    'keys that are not in order',
    'the keys are not in order',
    bytes => {
      const offsets = leafPages(bytes).at(-1)! * pageBytes + 24;
      const [first, second] = [bytes.readUInt16LE(offsets), bytes.readUInt16LE(offsets + 2)];
      bytes.writeUInt16LE(second, offsets);
      bytes.writeUInt16LE(first, offsets + 2);
    },
  ],
  [
    'a page of a later state',
    'the page is of a later state',
    bytes => {
      bytes.writeBigUInt64LE(1_000_000n, leafPages(bytes).at(-1)! * pageBytes + 8);
    },
  ],
  [
    'a page with the number of another',
    'the page is another',
    bytes => {
      bytes.writeBigUInt64LE(3n, leafPages(bytes).at(-1)! * pageBytes);
    },
  ],
  [
    'a page that two others refer to',
    'the page is used twice',
    bytes => {
      const [first, second] = leafPages(bytes) as [number, number];
      // Where the parent of both says which page the second one is.
      for (let at = 2 * pageBytes; at < bytes.length; at += pageBytes)
        for (let n = 0; bytes.readUInt16LE(at + 18) === 1 && n < bytes.readUInt16LE(at + 20) / 2; n++) {
          const node = at + 24 + bytes.readUInt16LE(at + 24 + 2 * n);
          if (bytes.readUInt32LE(node) === second) bytes.writeUInt32LE(first, node);
        }
    },
  ],
])('a check finds %s', async (_, message, damage) => {
  const file = join(await storeOfNotes(), 'stak.mdb');
  expect(checkPages(file)).toEqual([]);
  const bytes = readFileSync(file);
  damage(bytes);
  writeFileSync(file, bytes);
  expect(checkPages(file).map(damage => damage.message)).toContain(message);
});

it('pages are verified while others write', async () => {
  const folder = await storeOfNotes();
  const engine = await createEngine({ path: folder, sweepIntervalMs: 0 });
  onTestFinished(() => engine.close());
  for (let round = 0; round < 100; round++) {
    const writes = numbers
      .slice(0, 20)
      .map(n => engine.client.put({ TableName, Item: { ...keyOf(n), round } }));
    expect(checkPages(join(folder, 'stak.mdb'))).toEqual([]);
    await Promise.all(writes);
  }
});

// Lists the pages of the newest state: pages that were freed keep what was on them.
function leafPages(bytes: Buffer): number[] {
  const meta = [0, 8192].sort((a, b) =>
    Number(bytes.readBigUInt64LE(b + 152) - bytes.readBigUInt64LE(a + 152)),
  )[0]!;
  const leaves: number[] = [];
  const visit = (page: number, levels: number): void => {
    if (levels === 1) return void leaves.push(page);
    const start = page * 8192;
    for (let n = 0; n < bytes.readUInt16LE(start + 20) / 2; n++)
      visit(bytes.readUInt32LE(start + 24 + bytes.readUInt16LE(start + 24 + 2 * n)), levels - 1);
  };
  visit(Number(bytes.readBigUInt64LE(meta + 136)), bytes.readUInt16LE(meta + 102));
  return leaves;
}
