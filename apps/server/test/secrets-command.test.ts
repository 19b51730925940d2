import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conversationsTable } from '@stak/agents';
import { createClient } from '@stak/client';
import { createEngine } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { prepareDemo } from '../src/cli/demo/demo.ts';
import { actions as dynamodb } from '../src/cli/server/dynamodb-actions.ts';
import { actions as accounts } from '../src/cli/store/accounts-actions.ts';
import { actions } from '../src/cli/store/secrets-actions.ts';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';

const keyNamed = (id: string) =>
  `${id}:${Buffer.from(`${id} ${'0123456789abcdefghijklmnopqrstuv'}`.slice(0, 32)).toString('base64')}`;
const [oldKey, newKey] = [keyNamed('old'), keyNamed('new')];

let path: string;
beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), 'stak-secrets-'));
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rm(path, { recursive: true, force: true }));

const start = (keys: string) =>
  startServer(
    readServerConfig({ path, port: 0, demo: false }, { STAK_SECRET_KEYS: keys, STAK_LAKE: 'off' }),
    {
      log: createLogger({ level: 'silent' }),
      passwordCost: { logN: 4, r: 8, p: 1 },
    },
  );

async function secrets(action: keyof typeof actions, keys: string, more: object = {}): Promise<string> {
  vi.stubEnv('STAK_SECRET_KEYS', keys);
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {});
  const complained = vi.spyOn(console, 'error').mockImplementation(() => {});
  try {
    await actions[action]({ path, ...more });
    return printed.mock.calls.map(([line]) => line).join('\n');
  } finally {
    printed.mockRestore();
    complained.mockRestore();
  }
}

// One of everything that a service seals.
async function sealOneOfEach() {
  const server = await start(oldKey);
  const account = {
    email: 'ann@example.com',
    password: 'a long enough password',
    name: 'Ann',
    cookie: false,
  };
  const { data: signedIn } = await createClient({ baseUrl: server.localUrl }).accounts.signUp({
    body: account,
  });
  const { tenants, webhooks, agents } = createClient({
    baseUrl: server.localUrl,
    token: signedIn.access_token,
  });
  const tenant_id = 'acme';
  await tenants.create({ body: { tenant_id, name: 'Acme', status: 'active' } });
  const channel = { type: 'telegram', channel_id: '777' } as const;
  await tenants.claimChannel({ tenant_id, body: channel });
  const credentials = { secret_token: 'secret-of-telegram', bot_token: '777:x' };
  await agents.putChannelCredentials({ tenant_id, ...channel, body: credentials });
  const url = 'http://127.0.0.1:9999/hours';
  await agents.putCustomSkill({
    tenant_id,
    name: 'hours',
    body: { description: 'Hours', triggers: ['hours'], url },
  });
  const source = { name: 'GitHub', provider: 'github', signingSecret: 'secret-of-github' } as const;
  const { data: made } = await webhooks.createSource({ body: source });
  const { sourceId } = made;
  const body = { name: 'to nobody', destinationUrl: 'http://127.0.0.1:65535/' };
  const { data: connection } = await webhooks.createConnection({ sourceId, body });
  await server.stop();
  return { signedIn, sourceId, connectionId: connection.connectionId };
}

test('everything encrypted moves to a new key, so that the old one can be removed', async () => {
  const { signedIn, sourceId, connectionId } = await sealOneOfEach();
  expect(await secrets('status', oldKey)).toMatch(/^key +values\nold +7$/);
  expect(await secrets('reseal', `${newKey},${oldKey}`)).toBe('7 values were sealed again');
  expect(await secrets('status', `${newKey},${oldKey}`)).toMatch(/\nnew +7\nold +0$/);

  const server = await start(newKey);
  const anybody = createClient({ baseUrl: server.localUrl });
  const { refresh_token } = signedIn;
  const { data } = await anybody.accounts.refresh({ body: { refresh_token } });
  const { webhooks } = createClient({ baseUrl: server.localUrl, token: data.access_token });
  expect((await webhooks.rotateSecret({ connectionId })).status).toBe(200);
  const post = (route: string, headers: Record<string, string>, body: string) =>
    fetch(`${server.localUrl}${route}`, { method: 'POST', headers, body });
  const signature = `sha256=${createHmac('sha256', 'secret-of-github').update('{}').digest('hex')}`;
  const taken = await post(`/in/${sourceId}`, { 'x-hub-signature-256': signature }, '{}');
  expect(taken.status).toBe(200);
  const sticker = '{"update_id":1,"message":{"chat":{"id":1},"from":{"id":1},"sticker":{}}}';
  const token = {
    'x-telegram-bot-api-secret-token': 'secret-of-telegram',
    'content-type': 'application/json',
  };
  expect((await post('/v1/channels/telegram/777/webhook', token, sticker)).status).toBe(200);
  await server.stop();
});

test('a value that was moved to another item does not open, and is left alone', async () => {
  const engine = await createEngine({ path, sweepIntervalMs: 0 });
  const { Items = [] } = await engine.client.scan({ TableName: 'conversations' });
  const found = Items.find(item => item.sealed !== undefined)!;
  const moved = { ...found, [conversationsTable.keys.partition]: 'CHANNEL#telegram#778' };
  await engine.client.put({ TableName: 'conversations', Item: moved });
  await engine.close();
  await expect(secrets('reseal', `${keyNamed('third')},${newKey}`)).rejects.toThrow('1 values do not open');
  expect(await secrets('status', `${keyNamed('third')},${newKey}`)).toMatch(/\nnew +1$/m);
});

test('the next key signs on demand, and the last one can be revoked', async () => {
  const keys = `${keyNamed('third')},${newKey}`;
  const kids = async () => {
    const server = await start(keys);
    const { data } = await createClient({ baseUrl: server.localUrl }).accounts.jwks();
    await server.stop();
    return data.keys.map(key => key.kid);
  };
  const [first, second] = await kids();
  expect(await secrets('rotate', keys)).toContain('stays good');
  const [, , third] = await kids();
  expect(await kids()).toEqual([first, second, third]);
  expect(await secrets('rotate', keys, { revoke: true })).toContain('is refused');
  expect(await kids()).not.toContain(second);
});

test('another server’s keys change nothing, and no key is created', async () => {
  await expect(secrets('rotate', keyNamed('wrong'))).rejects.toThrow(
    'STAK_SECRET_KEYS has to keep every key',
  );
  vi.stubEnv('STAK_SECRET_KEYS', undefined);
  for (const action of ['status', 'reseal', 'rotate'] as const)
    await expect(actions[action]({ path })).rejects.toThrow('set STAK_SECRET_KEYS to those of the server');
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {});
  await accounts.list({ path }); // needs none
  printed.mockRestore();
  expect(existsSync(join(path, 'secret-key'))).toBe(false);
});

test('a backup opens with the key that its folder generated', async () => {
  const [original, copy] = [join(path, 'original'), join(path, 'copy')];
  const kidIn = async (folder: string) => {
    const config = readServerConfig({ path: folder, port: 0, demo: false }, { STAK_LAKE: 'off' });
    const server = await startServer(config, { log: createLogger({ level: 'silent' }) });
    const { data } = await createClient({ baseUrl: server.localUrl }).accounts.jwks();
    await server.stop();
    return data.keys[0]!.kid;
  };
  const kid = await kidIn(original);
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {});
  const noted = vi.spyOn(console, 'error').mockImplementation(() => {});
  await dynamodb.backup({ path: original, to: copy });
  expect(printed.mock.calls.flat().join()).toContain('with the secret-key');
  printed.mockRestore();
  noted.mockRestore();
  expect((await stat(join(copy, 'secret-key'))).mode & 0o077).toBe(0);
  expect((await stat(join(copy, 'stak.mdb'))).mode & 0o077).toBe(0);
  expect(await kidIn(copy)).toBe(kid);
  const foreign = join(path, 'foreign');
  await kidIn(foreign);
  await rm(join(foreign, 'stak.mdb'));
  await expect(dynamodb.backup({ path: original, to: foreign })).rejects.toThrow('secret-key of its own');
});

test('a backup has the demo of its tables', async () => {
  const [original, copy] = [join(path, 'with-demo'), join(path, 'demo-copy')];
  const open = async (folder: string) => {
    const config = readServerConfig({ path: folder, port: 0 }, {});
    const server = await startServer(config, { log: createLogger({ level: 'silent' }) });
    onTestFinished(async () => void (await server.stop()));
    return { server, demo: await prepareDemo(server.localUrl, folder) };
  };
  const { demo } = await open(original);
  for (const of of ['log', 'error'] as const) vi.spyOn(console, of).mockImplementation(() => {});
  await dynamodb.backup({ path: original, to: copy }); // while the server runs
  vi.restoreAllMocks();
  expect((await stat(join(copy, 'demo.json'))).mode & 0o077).toBe(0);
  const restored = await open(copy);
  expect(restored.demo).toEqual(demo);
  const { email, password } = restored.demo;
  const { accounts } = createClient({ baseUrl: restored.server.localUrl });
  const { data } = await accounts.logIn({ body: { email, password, cookie: false } });
  expect(data.access_token).toBeTypeOf('string');
}, 60_000);

test('a folder without a store stays without one', async () => {
  await expect(actions.status({ path: join(path, 'nowhere') })).rejects.toThrow('there is no folder');
});
