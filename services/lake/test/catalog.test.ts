import { GetObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { createApi, createMemoryRateLimits, httpErrors, type Principal, unguarded } from '@stak/http';
import { expect, test } from 'vitest';
import type { Metadata } from '../src/iceberg/metadata.ts';
import { fileKeyMs } from '../src/limits.ts';
import { readParquet } from './evidence.ts';
import {
  ann,
  type Backend,
  bob,
  capture,
  endUser,
  keep,
  openBackend,
  openLake,
  readObjects,
  silent,
} from './lake-fixture.ts';
import { chore, newChore } from './test-table.ts';

type Loaded = { 'metadata-location': string; metadata: Metadata; config: Record<string, string> };

const operator: Principal = { ...bob, accountId: 'usr_operator' };
function assertOperator(c: { get(name: 'principal'): Principal }): void {
  if (c.get('principal') !== operator) throw httpErrors.create('http.not_found', 'There is nothing here.');
}

// The API as an Iceberg client meets it: JSON for the catalog, S3 for the files.
function openCatalog(backend: Backend) {
  const lake = openLake(backend);
  const principals: Record<string, Principal> = { ann, bob, endUser, operator };
  const { app } = createApi({
    info: { title: 'Lake', version: '1' },
    endpoints: [...lake.api, ...lake.operatorApi(assertOperator)],
    guards: { ...unguarded, enterTenant: async (_, tenant_id) => ({ tenant_id, account_id: 'usr_ann' }) },
    errors: [lake.errors, httpErrors],
    authenticate: async ({ token }) => principals[token],
    clock: backend.clock,
    log: silent,
    rateLimits: { store: createMemoryRateLimits() },
  });
  const get = async (path: string, as: string) => {
    const base = as === 'operator' || path.startsWith('operator/') ? 'operator/v1' : 'v1';
    const answer = await app.request(
      `http://lake.test/v1/lake/iceberg/${base}/${path.replace('operator/', '')}`,
      {
        headers: { Authorization: `Bearer ${as}` },
      },
    );
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const load = async (table: string, as: string): Promise<Loaded> => {
    const [namespace, name] = table.split('.');
    const { status, body } = await get(`namespaces/${namespace}/tables/${name}`, as);
    expect([status, body]).toMatchObject([200, {}]);
    return body as Loaded;
  };
  const s3 = (config: Record<string, string>) =>
    new S3Client({
      endpoint: config['s3.endpoint']!,
      region: config['s3.region']!,
      forcePathStyle: true,
      credentials: {
        accessKeyId: config['s3.access-key-id']!,
        secretAccessKey: config['s3.secret-access-key']!,
      },
      maxAttempts: 1,
      systemClockOffset: backend.clock.now() - Date.now(),
      requestHandler: {
        handle: async (request: SignedRequest) => ({ response: await answerOf(app, request) }),
      } as never,
    });
  const read = async ({ config }: Loaded, location: string, Range?: string): Promise<Uint8Array> => {
    const [, Bucket, Key] = /^s3:\/\/([^/]+)\/(.+)$/.exec(location)!;
    const { Body } = await s3(config).send(new GetObjectCommand({ Bucket, Key, ...(Range && { Range }) }));
    return Body!.transformToByteArray();
  };
  return { lake, get, load, read, s3 };
}

type SignedRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  query?: Record<string, string>;
};

async function answerOf(
  app: { request(url: string, init: object): Response | Promise<Response> },
  request: SignedRequest,
) {
  const query = new URLSearchParams(request.query).toString();
  const answer = await app.request(`http://lake.test${request.path}${query && `?${query}`}`, {
    method: request.method,
    headers: request.headers,
  });
  const { Readable } = await import('node:stream');
  const body = Buffer.from(await answer.arrayBuffer());
  return {
    statusCode: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: Readable.from([body], { objectMode: false }),
  };
}

async function readTasks(catalog: ReturnType<typeof openCatalog>, loaded: Loaded) {
  const list = loaded.metadata.snapshots.at(-1)!['manifest-list'];
  const names = [
    ...Buffer.from(await catalog.read(loaded, list))
      .toString('latin1')
      .matchAll(/s3:[\w:/.-]+manifest-[\w-]+\.avro/g),
  ];
  const manifest = Buffer.from(await catalog.read(loaded, names[0]![0])).toString('latin1');
  const file = /s3:[\w:/.-]+\.parquet/.exec(manifest)![0];
  return readParquet<Record<string, unknown>>(await catalog.read(loaded, file));
}

async function begin() {
  const backend = await openBackend();
  const catalog = openCatalog(backend);
  for (const [user, id] of [
    ['usr_ann', 'a'],
    ['t1:u1', 'b'],
    ['t1:u2', 'c'],
    ['usr_bob', 'd'],
    ['t2:u9', 'e'],
  ])
    await backend.store.put(chore, newChore(user!, id!, { labels: ['x'] }));
  await capture(backend, catalog.lake);
  await keep(catalog.lake);
  return { backend, catalog };
}

// Clients take a snapshot 0 for the newest one.
test('a table without captured data has no snapshot, and gets one later', async () => {
  const backend = await openBackend();
  const catalog = openCatalog(backend);
  for (const namespace of ['bronze', 'silver']) {
    const { metadata } = await catalog.load(`${namespace}.tasks`, 'ann');
    expect(metadata).toMatchObject({ snapshots: [], 'current-snapshot-id': null });
  }
  await backend.store.put(chore, newChore('usr_ann', 'a'));
  await capture(backend, catalog.lake);
  const loaded = await catalog.load('silver.tasks', 'ann');
  expect(loaded.metadata.snapshots.map(snapshot => snapshot['snapshot-id'] > 0)).toEqual([true]);
  expect((await readTasks(catalog, loaded)).map(row => row.task_id)).toEqual(['a']);
});

test('the catalog lists its tables, and refuses unknown ones', async () => {
  const { catalog } = await begin();
  expect((await catalog.get('config?warehouse=x', 'ann')).body).toMatchObject({ overrides: {} });
  expect((await catalog.get('namespaces', 'ann')).body).toMatchObject({
    namespaces: [['bronze'], ['silver'], ['gold']],
  });
  expect((await catalog.get('namespaces/silver/tables', 'ann')).body).toMatchObject({
    identifiers: [{ namespace: ['silver'], name: 'tasks' }],
  });
  expect((await catalog.get('namespaces/gold/tables', 'ann')).body.identifiers).toContainEqual({
    namespace: ['gold'],
    name: 'tasks_created',
  });
  for (const path of ['namespaces/lead', 'namespaces/lead/tables', 'namespaces/silver/tables/secrets'])
    expect((await catalog.get(path, 'ann')).status).toBe(404);
  expect((await catalog.get('namespaces', 'endUser')).status).toBe(403); // end users have no catalog
  expect((await catalog.get('namespaces', 'nobody')).status).toBe(401);
});

test.each(['bronze', 'silver', 'gold'])(
  'a table of %s contains only the caller’s rows and files',
  async layer => {
    const { catalog } = await begin();
    const name = layer === 'gold' ? 'gold.tasks_by_status' : `${layer}.tasks`;
    const [hers, his] = [await catalog.load(name, 'ann'), await catalog.load(name, 'bob')];
    const [own, others] = [await readTasks(catalog, hers), await readTasks(catalog, his)];
    if (layer === 'silver') {
      expect(own.map(row => row.task_id).sort()).toEqual(['a', 'b', 'c']);
      expect(others.map(row => row.task_id)).toEqual(['d']);
    }
    if (layer === 'gold')
      expect([own, others]).toEqual([[{ status: 'pending', tasks: 3 }], [{ status: 'pending', tasks: 1 }]]);
    expect(JSON.stringify(own, asText)).not.toMatch(/usr_bob|t2/);
    expect(JSON.stringify(others, asText)).not.toMatch(/usr_ann|t1|t2/);
  },
);

test('a key opens the files of one table of one account, for an hour', async () => {
  const { backend, catalog } = await begin();
  const tasks = await catalog.load('silver.tasks', 'ann');
  const changes = await catalog.load('bronze.tasks', 'ann');
  const bobs = await catalog.load('silver.tasks', 'bob');
  const location = tasks['metadata-location'];
  const whole = await catalog.read(tasks, location);
  expect(JSON.parse(Buffer.from(whole).toString())).toEqual(tasks.metadata);
  expect(await catalog.read(tasks, location, 'bytes=2-9')).toEqual(whole.slice(2, 10));
  expect(await catalog.read(tasks, location, 'bytes=-5')).toEqual(whole.slice(-5));
  const head = await catalog
    .s3(tasks.config)
    .send(new HeadObjectCommand({ Bucket: 'stak', Key: location.slice('s3://stak/'.length) }));
  expect(head.ContentLength).toBe(whole.length);

  await expect(catalog.read(changes, location)).rejects.toMatchObject({ $metadata: { httpStatusCode: 401 } });
  const list = tasks.metadata.snapshots[0]!['manifest-list'];
  await expect(catalog.read(bobs, list)).rejects.toMatchObject({ $metadata: { httpStatusCode: 404 } });
  const forged = { ...tasks, config: { ...tasks.config, 's3.secret-access-key': 'guess' } };
  await expect(catalog.read(forged, location)).rejects.toMatchObject({ $metadata: { httpStatusCode: 401 } });
  await expect(catalog.read(tasks, location, 'bytes=9999999-')).rejects.toMatchObject({
    $metadata: { httpStatusCode: 416 },
  });
  await backend.clock.advance(fileKeyMs + 1);
  await expect(catalog.read(tasks, location)).rejects.toMatchObject({ $metadata: { httpStatusCode: 401 } });
});

test('a table that is loaded again has a new snapshot only if something changed', async () => {
  const { backend, catalog } = await begin();
  const first = await catalog.load('silver.tasks', 'ann');
  const again = await catalog.load('silver.tasks', 'ann');
  expect(again['metadata-location']).toBe(first['metadata-location']);
  await backend.store.put(chore, newChore('usr_ann', 'new'));
  await capture(backend, catalog.lake);
  const later = await catalog.load('silver.tasks', 'ann');
  expect(later.metadata['table-uuid']).toBe(first.metadata['table-uuid']);
  expect(later.metadata.snapshots).toHaveLength(2);
  expect(await readTasks(catalog, later)).toHaveLength(4);
  const before = {
    ...later,
    metadata: { ...later.metadata, snapshots: later.metadata.snapshots.slice(0, 1) },
  };
  expect(await readTasks(catalog, before)).toHaveLength(3);
  for (let round = 0; round < 12; round++) {
    await backend.store.put(chore, newChore('usr_ann', `more-${round}`));
    await capture(backend, catalog.lake);
    await catalog.load('silver.tasks', 'ann');
  }
  expect((await catalog.load('silver.tasks', 'ann')).metadata.snapshots).toHaveLength(10);
});

test.each([/\/data\//, /\/snap-/])('a copy that lacks a file (%s) is created again', async what => {
  const { backend, catalog } = await begin();
  await catalog.load('silver.tasks', 'ann');
  for (const key of await readObjects(backend.objects, 'copies/'))
    if (what.test(key)) await backend.objects.delete(key);
  expect(await readTasks(catalog, await catalog.load('silver.tasks', 'ann'))).toHaveLength(3);
});

test('copies that contain an erased user are removed at once, others stay', async () => {
  const { backend, catalog } = await begin();
  for (const as of ['ann', 'bob'])
    for (const name of ['bronze.tasks', 'silver.tasks']) await catalog.load(name, as);
  const folders = new Set((await readObjects(backend.objects, 'copies/')).map(key => key.split('/')[1]));
  expect(folders.size).toBe(2);
  while ((await catalog.lake.eraser.eraseUser('t1', 'u1')) !== 'done');
  const left = new Set((await readObjects(backend.objects, 'copies/')).map(key => key.split('/')[1]));
  expect(left.size).toBe(1);
  const loaded = await catalog.load('bronze.tasks', 'ann');
  expect(loaded.metadata.snapshots).toHaveLength(1);
  expect(JSON.stringify(await readTasks(catalog, loaded))).not.toContain('"u1"');
});

test.each(['bronze', 'silver', 'gold'])(
  'an operator’s table of %s contains all rows, with their owners',
  async layer => {
    const { catalog } = await begin();
    const name = layer === 'gold' ? 'gold.tasks_by_status' : `${layer}.tasks`;
    const rows = await readTasks(catalog, await catalog.load(name, 'operator'));
    if (layer === 'bronze')
      expect(rows.map(row => [row.account_id, row.tenant_id, row.user_id])).toEqual(
        expect.arrayContaining([
          ['usr_ann', null, null],
          ['usr_bob', null, null],
          [null, 't2', 'u9'],
        ]),
      );
    else
      expect(rows.map(row => [row._account, row._tenant, row._user]).sort()).toEqual(
        [
          ['usr_ann', null, null],
          ['usr_bob', null, null],
          [null, 't1', 'u1'],
          [null, 't1', 'u2'],
          [null, 't2', 'u9'],
        ].sort(),
      );
    if (layer === 'silver') expect(rows.map(row => row.task_id).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(JSON.stringify(rows, asText)).not.toContain('secret');
  },
);

test('only an operator can use the operator’s catalog and its files', async () => {
  const { catalog } = await begin();
  expect((await catalog.get('namespaces', 'operator')).body).toMatchObject({
    namespaces: [['bronze'], ['silver'], ['gold']],
  });
  const paths = ['config', 'namespaces', 'namespaces/silver', 'namespaces/silver/tables'];
  for (const path of [...paths, 'namespaces/silver/tables/tasks']) {
    for (const as of ['ann', 'bob', 'endUser'])
      expect([path, as, (await catalog.get(`operator/${path}`, as)).status]).toEqual([path, as, 404]);
    expect((await catalog.get(`operator/${path}`, 'nobody')).status).toBe(401);
  }
  const [all, hers] = [
    await catalog.load('silver.tasks', 'operator'),
    await catalog.load('silver.tasks', 'ann'),
  ];
  const list = all.metadata.snapshots[0]!['manifest-list'];
  await expect(catalog.read(hers, list)).rejects.toMatchObject({ $metadata: { httpStatusCode: 404 } });
});

test('any erasure removes an operator’s copies', async () => {
  const { backend, catalog } = await begin();
  await catalog.load('bronze.tasks', 'operator');
  while ((await catalog.lake.eraser.eraseUser('t2', 'u9')) !== 'done');
  expect(await readObjects(backend.objects, 'copies/')).toEqual([]);
  const rows = await readTasks(catalog, await catalog.load('bronze.tasks', 'operator'));
  expect(new Set(rows.map(row => row.account_id ?? row.user_id))).toEqual(
    new Set(['usr_ann', 'usr_bob', 'u1', 'u2']),
  );
  expect(JSON.stringify(rows, asText)).not.toContain('u9');
});

const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
