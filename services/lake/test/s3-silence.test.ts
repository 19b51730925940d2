import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isUnavailable } from '@stak/table';
import { expect, onTestFinished, test } from 'vitest';
import { type ObjectStore, s3Objects } from '../src/index.ts';
import { s3WriteBytes } from '../src/limits.ts';
import { readBronze } from './evidence.ts';
import { capture, openBackend, openLake, readObjects, temporaryFolder } from './lake-fixture.ts';
import { type Intercept, startBucket } from './s3-stub.ts';
import { chore, newChore } from './test-table.ts';

// A bucket, or something in front of it, that accepts requests and never answers.

async function openObjects(intercept: Intercept, options: { partBytes?: number; silenceMs?: number } = {}) {
  const bucket = await startBucket(intercept);
  const cache = await temporaryFolder();
  const objects = s3Objects({
    bucket: 'lake',
    region: 'eu-central-1',
    endpoint: bucket.endpoint,
    credentials: { accessKeyId: 'x', secretAccessKey: 'y' },
    cache,
    silenceMs: 50,
    ...options,
  });
  onTestFinished(() => {
    objects.close();
    bucket.close();
  });
  return { objects, cache };
}

// For tests whose requests succeed in the end, on a busy machine too.
const patient = { silenceMs: 200 };

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

test('every operation ends, and says that the bucket is unavailable', async () => {
  const { objects, cache } = await openObjects(() => true, { partBytes: 5 });
  const path = join(cache, 'made');
  await writeFile(path, 'a file of several parts');
  const body = Buffer.from('x');
  const errors = await Promise.all(
    [
      objects.get('a'),
      objects.getRange('a', 0, 1),
      objects.put('a', body),
      objects.put('a', Buffer.from('in parts')),
      objects.putIfAbsent('a', body),
      readObjects(objects, ''),
      objects.delete('a'),
      objects.locate('a'),
      objects.putFile('a', path),
    ].map(failureOf),
  );
  expect(errors.map(isUnavailable)).toEqual(errors.map(() => true));
});

test.each([
  ['', {}],
  [' with a checksum', { 'x-amz-checksum-crc32': 'AAAAAA==' }],
])('a response%s that stops in the middle ends, and leaves nothing on the disk', async (_, headers) => {
  const { objects, cache } = await openObjects((_request, response) => {
    response.writeHead(200, { 'content-length': 99, ...headers }).write('{');
    return true;
  });
  const errors = await Promise.all([objects.get('a'), objects.locate('a')].map(failureOf));
  expect(errors.map(isUnavailable)).toEqual([true, true]);
  expect(await readdir(cache)).toEqual([]);
});

test('a large body is sent again as a whole', async () => {
  let silent = 1;
  const { objects } = await openObjects(({ method }) => method === 'PUT' && silent-- > 0, patient);
  const body = Buffer.from(Array.from({ length: 3 * s3WriteBytes + 1 }, (_, i) => i % 251));
  await objects.put('a', body);
  expect(silent).toBeLessThan(0);
  expect(body.equals((await objects.get('a'))!)).toBe(true);
});

test('what could not be stored while the bucket was silent is stored when it answers', async () => {
  const backend = await openBackend();
  let silent = 4; // one more than the SDK's own attempts
  const { objects } = await openObjects(({ method, url }) => {
    const isBronze = method === 'PUT' && url!.includes('/bronze/');
    return isBronze && silent-- > 0;
  }, patient);
  // Time stands still while a request is under way.
  let underWay = 0;
  const put: ObjectStore['put'] = async (...input) => {
    underWay += 1;
    return objects.put(...input).finally(() => {
      underWay -= 1;
    });
  };
  const isBusy = () => underWay > 0 || backend.isBusy();
  const onBucket = { ...backend, objects: { ...objects, put }, isBusy };
  const lake = openLake(onBucket);
  await backend.store.put(chore, newChore('usr_ann', 'a'));
  await capture(onBucket, lake);
  expect(silent).toBeLessThan(0);
  expect(await readBronze(onBucket)).toMatchObject([{ kind: 'insert' }]);
  expect(await readObjects(objects, 'dead-letters/')).toEqual([]);
});
