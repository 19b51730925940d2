import { randomBytes } from 'node:crypto';
import { type Client, createClient, type ServerEvent } from '@stak/client';
import { createEngine, createHttpServer } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';

const log = createLogger({ level: 'silent' });
const password = 'a long enough password';
const goodKey = `k1:${randomBytes(32).toString('base64')}`;
const start = (flags: object, env: Record<string, string>) =>
  startServer(readServerConfig({ port: 0, ...flags }, { STAK_REQUESTS_PER_MINUTE: '100000', ...env }), {
    log,
    passwordCost: { logN: 4, r: 8, p: 1 },
  });

async function signUp(url: string, name: string): Promise<{ token: string; id: string; client: Client }> {
  const body = { email: `${name}@example.com`, password, name, cookie: false };
  const { data } = await createClient({ baseUrl: url }).accounts.signUp({ body });
  const client = createClient({ baseUrl: url, token: data.access_token });
  return { token: data.access_token, id: (await client.accounts.getMe()).data.userId, client };
}

const paths = ['', '/todo-app-data', '/todo-app-data/items', '/todo-app-data/changes', '/nothing'];
const ask = (url: string, path: string, token: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/tables${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });

const keyText = (item: { keys: readonly { attribute: string; text: string }[] }, attribute: string) =>
  item.keys.find(key => key.attribute === attribute)?.text;

async function openAws() {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  const engine = await createEngine({ path: ':memory:' });
  const dynamo = createHttpServer(engine, { port: 0 });
  const { url } = await dynamo.listen();
  const server = await start(
    { demo: true },
    {
      STAK_STORE: 'aws',
      STAK_AWS_REGION: 'us-east-1',
      STAK_AWS_ENDPOINT: url,
      STAK_SECRET_KEYS: goodKey,
    },
  );
  const close = async () => {
    await server.stop();
    await dynamo.close();
    await engine.close();
    vi.unstubAllEnvs();
  };
  return { server, close };
}

async function openEmbedded() {
  const server = await start({ memory: true, demo: true }, {});
  return { server, close: () => server.stop() };
}

describe.each([
  ['the embedded engine', openEmbedded],
  ['AWS', openAws],
])('the explorer over %s', (_name, open) => {
  let server: RunningServer;
  let close: () => Promise<unknown> = async () => {};
  let operator: Awaited<ReturnType<typeof signUp>>;
  let other: Awaited<ReturnType<typeof signUp>>;
  beforeAll(async () => {
    ({ server, close } = await open());
    operator = await signUp(server.localUrl, 'operator');
    other = await signUp(server.localUrl, 'other');
    server.services.explorer!.admitFromHere(operator.id);
  }, 60_000);
  afterAll(() => close());

  it('answers 404 to another account, an API key, an end user, or a caller behind a proxy', async () => {
    const { data: made } = await operator.client.accounts.createKey({
      body: { name: 'all', permissions: 'admin' },
    });
    const tenant_id = 'operated';
    await operator.client.tenants.create({ body: { tenant_id, name: 'Operated', status: 'active' } });
    await operator.client.tenants.createUser({
      tenant_id,
      body: { user_id: operator.id, display_name: 'O' },
    });
    const { data: ann } = await operator.client.tenants.mintToken({
      tenant_id,
      body: { sub: operator.id, scope: 'inbox:write' },
    });
    const missing = await ask(server.localUrl, '/a/b/c/d', operator.token);
    const nothing = { ...((await missing.json()) as object), request_id: expect.any(String) };
    for (const path of paths) {
      for (const token of [other.token, made.key, ann.token]) {
        const answer = await ask(server.localUrl, path, token);
        expect([answer.status, await answer.json()], path).toEqual([404, nothing]);
      }
      const proxied = await ask(server.localUrl, path, operator.token, { 'x-forwarded-for': '192.0.2.1' });
      expect([proxied.status, await proxied.json()]).toEqual([404, nothing]);
      expect((await fetch(`${server.localUrl}/v1/tables${path}`)).status).toBe(401);
    }
  });

  it('opens a catalog of all lake rows to the operator only', async () => {
    // A store on AWS has no lake unless somebody says where it lies.
    const hasLake = server.routes.some(({ operationId }) => operationId === 'lake.operatorIcebergTable');
    expect(hasLake).toBe(_name === 'the embedded engine');
    if (!hasLake) return;
    const { data: made } = await operator.client.accounts.createKey({
      body: { name: 'k', permissions: 'admin' },
    });
    const get = (path: string, token: string) =>
      fetch(`${server.localUrl}/v1/lake/iceberg/operator/v1/${path}`, {
        headers: { authorization: `Bearer ${token}` },
      });
    for (const path of ['config', 'namespaces', 'namespaces/silver/tables/accounts'])
      for (const token of [other.token, made.key]) expect((await get(path, token)).status).toBe(404);
    const { identifiers } = (await (await get('namespaces/silver/tables', operator.token)).json()) as {
      identifiers: { name: string }[];
    };
    expect(identifiers.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['accounts', 'audit', 'tasks']),
    );
    const loaded = await get('namespaces/silver/tables/accounts', operator.token);
    expect(await loaded.json()).toMatchObject({
      metadata: {
        schemas: [{ fields: expect.arrayContaining([expect.objectContaining({ name: '_account' })]) }],
      },
      config: { 's3.endpoint': expect.stringContaining('/v1/lake/iceberg/files') },
    });
    const { data: trail } = await operator.client.accounts.listAudit({ limit: 100 });
    expect(trail.data.map(({ action }) => action)).toContain('lake.operatorIcebergTable');
  });

  it('lists every table with its design', async () => {
    const { data: tables } = await operator.client.tables.list();
    expect(tables.data.map(({ name }) => name)).toContain('stak-inbox');
    expect(tables.data.find(({ name }) => name === 'ferryhook-main')).toMatchObject({
      keys: { partition: 'PK', sort: 'SK' },
      ttl: 'expiresAt',
      stream: 'NEW_AND_OLD_IMAGES',
      status: 'ACTIVE',
      indexes: 3,
    });
    const { data: design } = await operator.client.tables.get({ table: 'ferryhook-main' });
    expect(design).toMatchObject({ ttl_status: 'ENABLED', status: 'ACTIVE' });
    expect(design.indexes.map(({ name, status }) => [name, status])).toEqual(
      ['GSI1', 'GSI2', 'GSI3'].map(name => [name, 'ACTIVE']),
    );
    expect(design.entities.find(({ name }) => name === 'user')!.keys).toEqual([
      { index: null, partition: 'USER#{userId}', sort: 'PROFILE' },
      { index: 'GSI1', partition: 'EMAIL#{email}', sort: 'USER' },
    ]);
    const sessions = design.patterns.find(({ name }) => name === 'get session')!;
    expect(sessions.calls).toBeGreaterThan(0);
    expect(sessions.read_units).toBeGreaterThan(0);
    const { data: tasks } = await operator.client.tables.get({ table: 'todo-app-data' });
    expect(tasks.patterns.some(({ example }) => example !== null && example.read_units > 0)).toBe(true);
  });

  it('reads a partition in stored order, with secrets masked', async () => {
    const partition = { table: 'ferryhook-main', partition: `USER#${operator.id}` };
    const { data: page } = await operator.client.tables.items(partition);
    const sorts = page.data.map(item => keyText(item, 'SK')!);
    expect(sorts).toEqual([...sorts].sort());
    expect(page.data.map(({ entity }) => entity)).toContain('session');
    expect(page.read).toBe(page.data.length);
    expect(page.read_units).toBeGreaterThan(0);

    const profile = page.data.find(({ entity }) => entity === 'user')!;
    expect(profile.keys[0]!.pieces).toEqual([
      { text: 'USER#', param: null },
      { text: operator.id, param: 'userId' },
    ]);
    expect(profile.keys).toContainEqual(
      expect.objectContaining({ index: 'GSI1', text: 'EMAIL#operator@example.com' }),
    );
    const attribute = (item: typeof profile, name: string) => item.attributes.find(one => one.name === name);
    expect(attribute(profile, 'passwordHash')).toMatchObject({
      type: 'S',
      value: '••••••••',
      note: 'masked',
    });
    expect(attribute(profile, 'email')).toMatchObject({ value: 'operator@example.com', note: null });
    const session = page.data.find(({ entity }) => entity === 'session')!;
    expect(attribute(session, 'familyKey')).toMatchObject({
      value: expect.stringMatching(/^s1\./),
      note: 'sealed',
    });
    expect(session.expires_at).toMatch(/^20/);
    expect(JSON.stringify(page)).not.toMatch(/scrypt|\b[0-9a-f]{64}\b/);

    const newest = await operator.client.tables.items({ ...partition, order: 'desc', sort: 'SESSION#' });
    expect(newest.data.data.every(({ entity }) => entity === 'session')).toBe(true);
    const byEmail = await operator.client.tables.items({
      table: 'ferryhook-main',
      index: 'GSI1',
      partition: 'EMAIL#other@example.com',
    });
    expect(byEmail.data.data.map(({ entity }) => entity)).toEqual(['user']);
  });

  it('scans page by page, and filters by entity', async () => {
    for (let n = 0; n < 5; n++) await other.client.tasks.create({ body: { title: `Task ${n}` } });
    const readAll = async (query: { entity?: string; limit: number }) => {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const { data } = await operator.client.tables.items({
          table: 'todo-app-data',
          ...query,
          ...(cursor && { cursor }),
        });
        expect(data.data.length).toBeLessThanOrEqual(query.limit);
        found.push(...data.data.map(item => `${item.entity} ${item.keys.map(({ text }) => text)}`));
        cursor = data.next_cursor ?? undefined;
      } while (cursor);
      return found;
    };
    const all = await readAll({ limit: 3 });
    expect(new Set(all).size).toBe(all.length);
    const tasks = await readAll({ limit: 3, entity: 'task' });
    expect(tasks).toHaveLength(5);
    expect(all).toEqual(expect.arrayContaining(tasks));
  });

  it('refuses invalid requests', async () => {
    const refusals = [
      ['todo-app-data', { index: 'nowhere' }, 400],
      ['todo-app-data', { sort: 'TASK#' }, 400],
      ['todo-app-data', { limit: 51 }, 400],
      ['todo-app-data', { cursor: 'mine' }, 400],
      ['somebody-elses', {}, 404],
    ] as const;
    for (const [table, query, status] of refusals)
      await expect(operator.client.tables.items({ table, ...query })).rejects.toMatchObject({ status });
    const changes = ask(server.localUrl, '/stak-http/changes', operator.token);
    expect((await changes).status).toBe(404);
  });

  it('streams changes live, and resumes after a lost connection', async () => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const stream = operator.client.tables.changes({ table: 'todo-app-data' }, { signal });
    const next = async () => (await stream.next()).value as ServerEvent;
    expect(await next()).toMatchObject({ event: 'ready' });
    const { data: task } = await other.client.tasks.create({ body: { title: 'Seen' } });
    const untilTask = async (kind: string): Promise<ServerEvent> => {
      for (;;) {
        const event = await next();
        const data = event.data as { kind: string; item: { entity: string } };
        if (data.item.entity === 'task' && data.kind === kind) return event;
      }
    };
    const made = await untilTask('insert');
    await other.client.tasks.update({ task_id: task.task_id, body: { title: 'Changed' } });
    const { data: changed } = await untilTask('modify');
    expect(changed).toMatchObject({
      changed: expect.arrayContaining(['title']),
      before: expect.arrayContaining([expect.objectContaining({ name: 'title', value: 'Seen' })]),
    });
    leaving.abort();

    const again = (lastEventId: string) =>
      operator.client.tables.changes(
        { table: 'todo-app-data' },
        { signal: AbortSignal.timeout(20_000), lastEventId },
      );
    const resumed = again(made.id!);
    expect((await resumed.next()).value).toMatchObject({ event: 'ready' });
    expect((await resumed.next()).value).toMatchObject({ event: 'change' });
    await resumed.return(undefined);
    const lost = again('another-7');
    expect((await lost.next()).value).toMatchObject({ event: 'gap' });
    await lost.return(undefined);
  });
});

describe('a server', () => {
  it.each([
    [{ demo: false }, {}],
    [{ demo: true }, { STAK_TABLES_EXPLORER: 'off' }],
    [{ demo: true }, { STAK_PUBLIC_URL: 'https://stak.example.com' }],
    [{ demo: true }, { STAK_ENV: 'production', STAK_SECRET_KEYS: goodKey }],
  ])('has no explorer: %j %j', async (flags, env) => {
    const server = await start({ memory: true, ...flags }, env as Record<string, string>);
    try {
      expect(server.services.explorer).toBeUndefined();
      expect(server.routes.filter(({ path }) => path.startsWith('/v1/tables'))).toEqual([]);
    } finally {
      await server.stop({ isAtOnce: true });
    }
  });

  it('has an explorer for the configured accounts, from anywhere', async () => {
    const config = readServerConfig(
      {},
      { STAK_ENV: 'production', STAK_SECRET_KEYS: goodKey, STAK_TABLES_EXPLORER: 'usr_1, usr_2' },
    );
    expect(config.explorer).toEqual({ operators: ['usr_1', 'usr_2'], admitsDemo: false });
    expect(() => readServerConfig({}, { STAK_TABLES_EXPLORER: 'ann@example.com' })).toThrow(
      'ids of accounts',
    );
    expect(() => readServerConfig({}, { STAK_TABLES_EXPLORER: 'true' })).toThrow('ids of accounts');
  });
});
