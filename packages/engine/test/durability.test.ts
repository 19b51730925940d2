import { mkdtempSync, rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEngine, restoreStore, StoreError } from '../src/index.ts';
import { createRecordBuilder } from '../src/journal/records.ts';
import { metaKey } from '../src/storage/keys.ts';
import { encodeJson, openStore } from '../src/storage/store.ts';
import { canRun, mountMemory, type Outcome, remount, runStore, unmount } from './crash/limits.ts';
import { hashTable } from './engine-fixture.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-durability-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function createStore(path: string): Promise<void> {
  const engine = await createEngine({ path, sweepIntervalMs: 0 });
  await engine.execute('CreateTable', hashTable('items'));
  await engine.client.put({ TableName: 'items', Item: { pk: 'first' } });
  await engine.close();
}

// Everything acknowledged is there, nothing disagrees, and it can be written again.
async function expectWhole(path: string, acknowledged: string[]): Promise<void> {
  const engine = await createEngine({ path, sweepIntervalMs: 0 });
  const { Items } = await engine.client.scan({ TableName: 'items', ProjectionExpression: 'pk' });
  const found = new Set(Items!.map(({ pk }) => pk));
  expect(acknowledged.filter(pk => !found.has(pk))).toEqual([]);
  expect(engine.check().problems).toEqual([]);
  await engine.client.put({ TableName: 'items', Item: { pk: 'again', body: 'x'.repeat(300_000) } });
  await engine.close();
}

function expectRefusals({ opened, acknowledged, errors, readable, problems }: Outcome): void {
  expect(opened).toBe(true);
  expect(acknowledged.length).toBeGreaterThan(0);
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors)
    expect(error).toMatch(
      /^(?:StoreFullException: the disk is full|InternalServerError: the write was not stored: ).*bytes free/,
    );
  // Reading goes on as if nothing had happened.
  expect({ readable, problems }).toEqual({ readable: true, problems: 0 });
}

const canMount = (() => {
  const probe = mkdtempSync(join(tmpdir(), 'stak-mount-'));
  const mounted = mountMemory(probe, '1m');
  if (mounted) unmount(probe);
  rmSync(probe, { recursive: true });
  return mounted;
})();
const hasLimits = process.platform !== 'win32';
// Root is not stopped by permissions, so it lets another user try.
const stranger = process.getuid?.() === 0 ? { uid: 65534 } : {};
const hasStranger = hasLimits && canRun(stranger);

describe('when the disk is full', () => {
  it.skipIf(!hasLimits)('a file that may not grow loses nothing (needs ulimit)', async () => {
    await createStore(folder);
    const outcome = await runStore(folder, 'fill', { fileKiB: 1024 });
    expectRefusals(outcome);
    await expectWhole(folder, outcome.acknowledged);
  });

  it.skipIf(!hasLimits)('a store that cannot start reports it (needs ulimit)', async () => {
    const outcome = await runStore(folder, 'open', { fileKiB: 16 });
    expect(outcome).toMatchObject({
      opened: false,
      errors: [expect.stringMatching(/^StoreError: cannot open/)],
    });
    await createStore(folder);
    await expectWhole(folder, ['first']);
  });

  it.skipIf(!canMount)('a full file system loses nothing (needs the right to mount)', async () => {
    mountMemory(folder, '2m');
    try {
      await createStore(folder);
      const outcome = await runStore(folder, 'fill');
      expectRefusals(outcome);
      // Still full: it opens, for reading at least.
      expect(await runStore(folder, 'open')).toMatchObject({ opened: true, errors: [], problems: 0 });
      remount(folder, 'size=20m');
      await expectWhole(folder, outcome.acknowledged);
    } finally {
      unmount(folder);
    }
  });

  it.skipIf(!canMount)(
    'a write for which there is no space does not reach LMDB (needs the right to mount)',
    async () => {
      mountMemory(folder, '4m');
      const store = openStore(join(folder, 'store'));
      try {
        const put = (name: string, bytes: number) =>
          store.commit(() => store.put(metaKey(name), Buffer.alloc(bytes)));
        await put('first', 100_000);
        await writeFile(join(folder, 'ballast'), Buffer.alloc(4 * 1024 * 1024)).catch(() => undefined);
        await expect(put('second', 100_000)).rejects.toMatchObject({
          name: 'StoreFullException',
          message: 'the disk is full (0 bytes free on its disk)',
        });
        await rm(join(folder, 'ballast'));
        await put('second', 100_000);
        expect(store.has(metaKey('second'))).toBe(true);
      } finally {
        await store.close();
        unmount(folder);
      }
    },
  );

  it.skipIf(!canMount)(
    'many small writes at once need little free space (needs the right to mount)',
    async () => {
      mountMemory(folder, '4m');
      const engine = await createEngine({ path: join(folder, 'store'), sweepIntervalMs: 0 });
      try {
        await engine.execute('CreateTable', hashTable('items'));
        const put = (_: unknown, n: number) =>
          engine.client.put({ TableName: 'items', Item: { pk: `item ${n}` } });
        await Promise.all(Array.from({ length: 1000 }, put));
        expect(await engine.client.scan({ TableName: 'items', Select: 'COUNT' })).toMatchObject({
          Count: 1000,
        });
      } finally {
        await engine.close();
        unmount(folder);
      }
    },
  );

  it.skipIf(!canMount)(
    'a restore of small entries needs little more space than they take (needs the right to mount)',
    async () => {
      mountMemory(folder, '48m');
      const restoring = restoreStore(join(folder, 'store'));
      try {
        const entries = createRecordBuilder();
        for (let n = 0; n < 100_000; n++) entries.put(metaKey(`entry ${n}`), Buffer.alloc(100));
        await restoring.load(entries.operations());
      } finally {
        await restoring.abandon();
        unmount(folder);
      }
    },
  );

  it.skipIf(!canMount)(
    'a new store on a full file system reports it (needs the right to mount)',
    async () => {
      mountMemory(folder, '1m');
      try {
        const path = join(folder, 'store');
        await mkdir(path);
        await writeFile(join(folder, 'ballast'), Buffer.alloc(1024 * 1024)).catch(() => undefined);
        const { opened, errors } = await runStore(path, 'open');
        expect({ opened, errors }).toEqual({
          opened: false,
          errors: [expect.stringMatching(/^StoreError.*ENOSPC/)],
        });
        expect(await readdir(path)).toEqual([]);
        await rm(join(folder, 'ballast'));
        await createStore(path);
        await expectWhole(path, ['first']);
      } finally {
        unmount(folder);
      }
    },
  );
});

describe('where it may not write', () => {
  it('a path below a file is refused', async () => {
    await writeFile(join(folder, 'file'), 'text');
    for (const path of [join(folder, 'file'), join(folder, 'file', 'store'), '/proc/stak']) {
      await expect(createEngine({ path })).rejects.toThrow(StoreError);
    }
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('text');
  });

  it('a store is private, even in a folder that others can read', async () => {
    const modes = async () =>
      Promise.all(
        ['stak.mdb', 'stak.mdb-lock'].map(async name => (await stat(join(folder, name))).mode & 0o777),
      );
    await chmod(folder, 0o777);
    await createStore(folder);
    expect(await modes()).toEqual([0o600, 0o600]);
    for (const name of ['stak.mdb', 'stak.mdb-lock']) await chmod(join(folder, name), 0o644);
    await expectWhole(folder, ['first']);
    expect(await modes()).toEqual([0o600, 0o600]);
  });

  it.skipIf(!hasStranger)(
    'a read-only folder is refused and left as it is (needs another user)',
    async () => {
      await chmod(folder, 0o555);
      const { opened, errors } = await runStore(folder, 'open', stranger);
      expect({ opened, errors }).toEqual({
        opened: false,
        errors: [expect.stringMatching(/^StoreError.*EACCES/)],
      });
      expect(await readdir(folder)).toEqual([]);
      await chmod(folder, 0o777);
    },
  );

  it.skipIf(!hasStranger)('a read-only file is refused and left as it is (needs another user)', async () => {
    await createStore(folder);
    const file = join(folder, 'stak.mdb');
    const before = await readFile(file);
    await chmod(folder, 0o777);
    await chmod(file, 0o444);
    const { opened, errors } = await runStore(folder, 'open', stranger);
    expect({ opened, errors }).toEqual({
      opened: false,
      errors: [expect.stringMatching(/^StoreError.*EACCES/)],
    });
    expect((await readFile(file)).equals(before)).toBe(true);
    await chmod(file, 0o644);
    await expectWhole(folder, ['first']);
  });

  it.skipIf(!canMount)('a read-only file system is refused (needs the right to mount)', async () => {
    mountMemory(folder, '2m');
    try {
      await createStore(folder);
      remount(folder, 'ro');
      const { opened, errors } = await runStore(folder, 'open');
      expect({ opened, errors }).toEqual({
        opened: false,
        errors: [expect.stringMatching(/^StoreError.*EROFS/)],
      });
      remount(folder, 'rw');
      await expectWhole(folder, ['first']);
    } finally {
      unmount(folder);
    }
  });
});

describe('a file that is not a store of ours', () => {
  const damage: Record<string, [RegExp, (file: string) => Promise<void>]> = {
    'with other bytes': [/is not a Stak store/, file => writeFile(file, Buffer.alloc(50_000, 'Stak'))],
    'with a few bytes': [/is not a Stak store/, file => writeFile(file, 'x')],
    'cut in the middle': [/is cut short/, file => truncate(file, 24 * 1024)],
    'cut in the first page': [/is not a Stak store/, file => truncate(file, 4000)],
    'of a later format': [/has format 4/, setLaterFormat],
  };

  for (const [name, [message, change]] of Object.entries(damage)) {
    it(`${name} is refused and not touched`, async () => {
      const file = join(folder, 'stak.mdb');
      await createStore(folder);
      await change(file);
      const before = await readFile(file);
      const opening = createEngine({ path: folder });
      await expect(opening).rejects.toThrow(StoreError);
      await expect(opening).rejects.toThrow(message);
      expect((await readFile(file)).equals(before)).toBe(true);
    });
  }

  it('an empty file, left by a process that was killed at its start, becomes a new store', async () => {
    await writeFile(join(folder, 'stak.mdb'), '');
    await createStore(folder);
    await expectWhole(folder, ['first']);
  });

  async function setLaterFormat(): Promise<void> {
    const store = openStore(folder);
    await store.commit(() => store.put(metaKey('format'), encodeJson(4)));
    await store.close();
  }
});
