import { chmod, mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { folderObjects, type ObjectStore, s3Objects } from '../src/index.ts';
import { cacheMs, draftMs } from '../src/limits.ts';
import { checkKey, keyPart } from '../src/storage/objects.ts';
import { type AtEnd, readObjects, temporaryFolder } from './lake-fixture.ts';
import { startBucket } from './s3-stub.ts';

// What every place a lake may lie in has to do.
function testObjects(name: string, open: (atEnd: AtEnd) => Promise<ObjectStore>): void {
  describe(name, () => {
    let objects: ObjectStore;
    const endings: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      objects = await open(end => void endings.push(end));
    });
    afterAll(async () => {
      for (const end of endings) await end();
    });
    const text = async (key: string) => {
      const body = await objects.get(key);
      return body && Buffer.from(body).toString();
    };

    test('an object can be written, read, replaced and deleted', async () => {
      expect(await text('a/b.json')).toBeUndefined();
      await objects.put('a/b.json', Buffer.from('one'));
      expect(await text('a/b.json')).toBe('one');
      await objects.put('a/b.json', Buffer.from('two'));
      expect(await text('a/b.json')).toBe('two');
      await objects.delete('a/b.json');
      await objects.delete('a/b.json');
      expect(await text('a/b.json')).toBeUndefined();
    });

    test('of concurrent puts if absent, one succeeds', async () => {
      const wins = await Promise.all(
        Array.from({ length: 8 }, (_, i) => objects.putIfAbsent('race/1.json', Buffer.from(`writer ${i}`))),
      );
      expect(wins.filter(Boolean)).toHaveLength(1);
      expect(await text('race/1.json')).toBe(`writer ${wins.indexOf(true)}`);
      expect(await objects.putIfAbsent('race/1.json', Buffer.from('late'))).toBe(false);
    });

    test('lists a prefix in order, with sizes and times', async () => {
      for (const key of ['list/b=2/y', 'list/a', 'list/b=1/x', 'list/b', 'other'])
        await objects.put(key, Buffer.from('12345'));
      expect(await readObjects(objects, 'list/')).toEqual(['list/a', 'list/b', 'list/b=1/x', 'list/b=2/y']);
      expect(await readObjects(objects, 'list/b=')).toEqual(['list/b=1/x', 'list/b=2/y']);
      expect(await readObjects(objects, 'nothing/')).toEqual([]);
      for await (const { bytes, changedAt } of objects.list('list/a')) {
        expect(bytes).toBe(5);
        expect(Math.abs(changedAt - Date.now())).toBeLessThan(60_000);
      }
    });

    test('files survive a round trip', async () => {
      const folder = await temporaryFolder();
      const path = join(folder, 'made.parquet');
      await writeFile(path, 'a file');
      await objects.putFile('files/x.parquet', path);
      expect(await text('files/x.parquet')).toBe('a file');
      const located = await objects.locate('files/x.parquet');
      expect(located).toMatch(/\.parquet$/);
      expect(await objects.locate('files/missing.parquet')).toBeUndefined();
      await objects.delete('files/x.parquet');
      expect(await objects.locate('files/x.parquet')).toBeUndefined();
    });

    test('no key leads out of the store', async () => {
      for (const key of ['../x', 'a/../b', '/etc/passwd', 'a//b', '', 'a/.hidden', 'a b', 'a\\b'])
        await expect(async () => objects.put(key, Buffer.from('x')), key).rejects.toThrow(TypeError);
    });
  });
}

testObjects('a folder', async atEnd => folderObjects(join(await temporaryFolder(atEnd), 'lake')));

test('files in an existing folder are readable by their owner only', async () => {
  const folder = await temporaryFolder();
  await chmod(folder, 0o755);
  const made = join(folder, 'made');
  await writeFile(made, 'x', { mode: 0o644 });
  const objects = folderObjects(folder);
  await objects.put('a/b/c', Buffer.from('x'));
  await objects.putIfAbsent('a/d', Buffer.from('x'));
  await objects.putFile('e/f', made);
  const paths = await readdir(folder, { recursive: true });
  expect(paths).toEqual(expect.arrayContaining(['a/b/c', 'a/d', 'e/f', '.unfinished']));
  for (const path of paths) expect((await stat(join(folder, path))).mode & 0o077, path).toBe(0);
});

test('a folder keeps no unfinished files, not even of a killed process', async () => {
  const folder = await temporaryFolder();
  const drafts = join(folder, '.unfinished');
  const objects = folderObjects(folder);
  await objects.put('a', Buffer.from('x'));
  await expect(objects.put('a/b', Buffer.from('x')), 'a file is not a folder').rejects.toThrow();
  await expect(objects.putIfAbsent('a/b', Buffer.from('x'))).rejects.toThrow();
  expect(await readdir(drafts)).toEqual([]);

  for (const name of ['young', 'old']) await writeFile(join(drafts, name), 'somebody’s');
  const old = (Date.now() - draftMs - 60_000) / 1000;
  await utimes(join(drafts, 'old'), old, old);
  await folderObjects(folder).put('b', Buffer.from('x'));
  expect(await readdir(drafts)).toEqual(['young']);
});

const buckets: { close(): void }[] = [];
afterAll(() => {
  for (const bucket of buckets) bucket.close();
});
testObjects('a bucket, through the AWS SDK', async atEnd => {
  const bucket = await startBucket();
  const objects = s3Objects({
    bucket: 'lake',
    prefix: 'stak/',
    region: 'eu-central-1',
    endpoint: bucket.endpoint,
    credentials: { accessKeyId: 'x', secretAccessKey: 'y' },
    cache: await temporaryFolder(atEnd),
  });
  buckets.push(bucket, objects);
  return objects;
});

test('large objects are uploaded in parts, and none is left after a failure', async () => {
  const bucket = await startBucket();
  const cache = await temporaryFolder();
  const objects = s3Objects({
    bucket: 'lake',
    region: 'eu-central-1',
    endpoint: bucket.endpoint,
    credentials: { accessKeyId: 'x', secretAccessKey: 'y' },
    cache,
    partBytes: 5,
  });
  onTestFinished(() => {
    objects.close();
    bucket.close();
  });
  await objects.put('body', Buffer.from('five and more'));
  const path = join(cache, 'made.parquet');
  await writeFile(path, 'a file of several parts');
  await objects.putFile('file', path);
  expect(String(await objects.get('body'))).toBe('five and more');
  expect(String(await objects.get('file'))).toBe('a file of several parts');
  await expect(stat(path)).rejects.toThrow('ENOENT');
  await mkdir(join(cache, 'folder'));
  await expect(objects.putFile('none', join(cache, 'folder'))).rejects.toThrow();
  expect(bucket.keys()).toEqual(['body', 'file']);
  expect(bucket.uploads()).toBe(0);
});

test('copies of unused objects are removed from the disk', async () => {
  const bucket = await startBucket();
  const cache = await temporaryFolder();
  const objects = s3Objects({
    bucket: 'lake',
    region: 'eu-central-1',
    endpoint: bucket.endpoint,
    credentials: { accessKeyId: 'x', secretAccessKey: 'y' },
    cache,
  });
  onTestFinished(() => {
    objects.close();
    bucket.close();
  });
  for (const key of ['erased', 'kept', 'new']) await objects.put(key, Buffer.from(key));
  const [erased, kept] = [(await objects.locate('erased'))!, (await objects.locate('kept'))!];
  const longAgo = new Date(Date.now() - cacheMs - 1000);
  await utimes(erased, longAgo, longAgo);
  const added = (await objects.locate('new'))!;
  expect((await readdir(cache)).sort()).toEqual([kept, added].map(path => basename(path)).sort());
});

test('names of tables and entities become unambiguous parts of keys', () => {
  const names = ['todo-app-data', 'a/b', 'a=b', 'a.b', 'ä', 'a b', 'a_b', '..'];
  expect(new Set(names.map(keyPart)).size).toBe(names.length);
  for (const name of names) expect(checkKey(`x/${keyPart(name)}/y`)).toBeTruthy();
});

describe('a prefix in a bucket', () => {
  const open = async (bucket: { endpoint: string }, prefix: string) =>
    s3Objects({
      bucket: 'lake',
      prefix,
      region: 'us-east-1',
      endpoint: bucket.endpoint,
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
      cache: await temporaryFolder(),
    });
  const openBucket = async () => {
    const bucket = await startBucket();
    onTestFinished(() => bucket.close());
    return bucket;
  };
  const manifest = 'manifest/t/commits/1.json';

  test.each(['lake', 'lake/'])('%s is a folder', async prefix => {
    const bucket = await openBucket();
    const objects = await open(bucket, prefix);
    await objects.put(manifest, Buffer.from('new'));
    expect(bucket.keys()).toEqual([`lake/${manifest}`]);
    expect(await readObjects(objects, 'manifest/')).toEqual([manifest]);
    await objects.delete(manifest);
    expect(bucket.keys()).toEqual([]);
    objects.close();
  });
});
