import { readFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PlanName, plans } from '@stak/accounts';
import { afterEach, describe, expect, it } from 'vitest';
import { readBackupTarget, readServerConfig, serverVariables } from '../src/config/config.ts';
import { findSpendLimit } from '../src/config/model-config.ts';
import { parseSecretKey, readSecretKeys } from '../src/config/secrets.ts';

const goodKey = `k1:${Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7)).toString('base64')}`;

describe('the configuration of the server', () => {
  it('accepts another S3 service for the lake', () => {
    const env = { STAK_LAKE: 's3://bucket/lake', STAK_AWS_REGION: 'eu-central-1' };
    const lake = { kind: 's3', bucket: 'bucket', prefix: 'lake', region: 'eu-central-1' };
    expect(readServerConfig({}, env).lake).toEqual(lake);
    const endpoint = 'http://127.0.0.1:9000';
    expect(readServerConfig({}, { ...env, STAK_S3_ENDPOINT: endpoint }).lake).toEqual({ ...lake, endpoint });
  });

  it('stores the lake beside an embedded store by default, and requires a location otherwise', () => {
    const lakeWith = (env: Record<string, string>) => readServerConfig({}, env).lake;
    const beside = { kind: 'folder', path: './data/lake' };
    expect(lakeWith({})).toEqual(beside);
    expect(lakeWith({ STAK_LAKE: 'on' })).toEqual(beside);
    expect(lakeWith({ STAK_LAKE: 'off' })).toEqual({ kind: 'off' });
    const aws = { STAK_STORE: 'aws', STAK_AWS_REGION: 'eu-central-1' };
    expect(lakeWith(aws)).toEqual({ kind: 'off' });
    expect(() => lakeWith({ ...aws, STAK_LAKE: 'on' })).toThrow('say where the lake');
  });

  it('accepts more queue shards, but not fewer than every store has', () => {
    const shardsWith = (env: Record<string, string>) => readServerConfig({}, env).dueShards;
    expect(shardsWith({})).toEqual({ webhooks: 8, agents: 4 });
    const most = { STAK_WEBHOOKS_DUE_SHARDS: '256', STAK_AGENTS_DUE_SHARDS: '16' };
    expect(shardsWith(most)).toEqual({ webhooks: 256, agents: 16 });
    for (const bad of ['7', '257', '8.5', 'many'])
      expect(() => shardsWith({ STAK_WEBHOOKS_DUE_SHARDS: bad })).toThrow('STAK_WEBHOOKS_DUE_SHARDS');
    expect(() => shardsWith({ STAK_AGENTS_DUE_SHARDS: '3' })).toThrow('STAK_AGENTS_DUE_SHARDS');
  });

  it.each([
    'gs://bucket/stak',
    's3:/bucket/stak',
    's3://',
    'S3://bucket',
    'https://bucket.example',
    'file:///srv',
  ])('takes %s for no folder', address => {
    for (const name of ['STAK_BACKUP', 'STAK_LAKE'])
      expect(() => readServerConfig({}, { [name]: address })).toThrow(`${name} must be a folder or s3://`);
    expect(() => readBackupTarget({ from: address }, {})).toThrow('--from must be a folder or s3://');
  });

  it('takes spaces for nothing', () => {
    const env = { STAK_PORT: ' ', STAK_HISTORY_HOURS: '  ', STAK_DATA: ' ' };
    expect(readServerConfig({}, env)).toEqual(readServerConfig({}, {}));
  });

  it('needs no settings on a developer’s machine', () => {
    expect(readServerConfig({}, {})).toMatchObject({
      isProduction: false,
      host: '127.0.0.1',
      port: 8787,
      store: { kind: 'embedded', path: './data' },
      demo: true,
      outboundAllow: ['127.0.0.0/8', '::1/128'],
    });
  });

  it('prefers flags to variables, and ignores empty variables', () => {
    const env = { STAK_PORT: '9000', STAK_HOST: '', STAK_DATA: '/srv/stak' };
    expect(readServerConfig({ port: 9001 }, env)).toMatchObject({ port: 9001, host: '127.0.0.1' });
    expect(readServerConfig({ path: 'here' }, env).store).toMatchObject({ kind: 'embedded', path: 'here' });
    expect(readServerConfig({ memory: true }, {}).store).toMatchObject({ path: ':memory:' });
    expect(readServerConfig({ memory: true }, { STAK_TABLE_PREFIX: 'dev-' }).store).toMatchObject({
      prefix: 'dev-',
    });
    expect(() => readServerConfig({}, { STAK_TABLE_PREFIX: 'a/b' })).toThrow('STAK_TABLE_PREFIX: must have');
  });

  it('starts one process per core but one, at most eight, and one for a store in memory', () => {
    const workers = (flags: object, env = {}) => readServerConfig(flags, env).workers;
    expect(workers({})).toBe(Math.min(8, Math.max(1, availableParallelism() - 1)));
    expect(workers({}, { STAK_WORKERS: '12' })).toBe(12);
    expect(workers({ workers: 3 }, { STAK_WORKERS: '12' })).toBe(3);
    expect(workers({ memory: true }, { STAK_WORKERS: '12' })).toBe(1);
    expect(() => workers({ memory: true, workers: 2 })).toThrow('one process');
    for (const bad of [0, 1.5, 'many', '']) expect(() => workers({ workers: bad })).toThrow('--workers');
  });

  it('waits for proxies before it stops, in production', () => {
    const seconds = (env: object) => readServerConfig({}, { ...env }).drainSeconds;
    expect(seconds({})).toBe(0);
    expect(seconds({ STAK_ENV: 'production', STAK_SECRET_KEYS: goodKey })).toBe(5);
    expect(seconds({ STAK_DRAIN_SECONDS: '20' })).toBe(20);
  });

  it('parses model prices', () => {
    const read = (STAK_MODEL_PRICES: string) => readServerConfig({}, { STAK_MODEL_PRICES }).models.prices;
    expect(read('anthropic/claude-sonnet-4-5=3/15, llama3:8b=0/0.25')).toEqual({
      'anthropic/claude-sonnet-4-5': { input: 3, output: 15 },
      'llama3:8b': { input: 0, output: 0.25 },
    });
    for (const text of ['claude', 'claude=3', 'claude=3/-1', '=1/2'])
      expect(() => read(text)).toThrow('STAK_MODEL_PRICES');
    expect(readServerConfig({}, {}).models.prices).toBeUndefined();
  });

  it('parses the allowed models and their prices', () => {
    const read = (env: Record<string, string>) => readServerConfig({}, env);
    const keys = { STAK_OPENAI_API_KEY: 'a-key-of-ours', STAK_GEMINI_API_KEY: 'another-key' };
    expect(read({ ...keys, STAK_MODEL: 'google/gemini-2.5-flash' }).models).toMatchObject({
      openai: { apiKey: 'a-key-of-ours' },
      google: { apiKey: 'another-key' },
      default: { provider: 'google', model: 'gemini-2.5-flash' },
    });
    const local = read({
      STAK_OPENAI_API_KEY: 'a-key-of-ours',
      STAK_OPENAI_URL: 'http://127.0.0.1:11434/v1/',
    });
    expect(local.models).toMatchObject({
      openaiCompatible: { baseURL: 'http://127.0.0.1:11434/v1', apiKey: 'a-key-of-ours' },
    });
    expect(local.models.openai).toBeUndefined();
    expect(() => read({ STAK_MODEL: 'gemini-2.5-flash' })).toThrow('STAK_MODEL');
    expect(() => read({ STAK_MODEL: 'gogle/gemini' })).toThrow('providers are anthropic');
    expect(read({}).modelSpend).toEqual({});
    const changed = read({ STAK_MODEL_SPEND_PER_DAY: 'pro=20,team=unlimited,usr_1=100' }).modelSpend;
    expect(changed).toEqual({ pro: 20, team: null, usr_1: 100 });
    const limitOf = (accountId: string, plan: PlanName) => findSpendLimit(changed, accountId, plans[plan]);
    expect([limitOf('usr_1', 'free'), limitOf('usr_2', 'pro'), limitOf('usr_2', 'free')]).toEqual([
      100, 20, 1,
    ]);
    expect([limitOf('usr_2', 'team'), limitOf('usr_2', 'selfhosted')]).toEqual([undefined, undefined]);
    expect(() => read({ STAK_MODEL_SPEND_PER_DAY: 'pro=none' })).toThrow('STAK_MODEL_SPEND_PER_DAY');
  });

  it('writes mail to a folder in development, and sends it if configured', () => {
    const read = (env: object, flags = {}) => readServerConfig(flags, { ...env });
    expect(read({ STAK_DATA: '/srv/stak' }).mail).toEqual({
      url: 'file:///srv/stak/mail',
      from: 'Stak <stak@localhost>',
      brand: { name: 'Stak', color: '#0a6549' },
    });
    expect(read({}, { memory: true }).mail).toBeUndefined();
    const production = { STAK_ENV: 'production', STAK_SECRET_KEYS: goodKey };
    expect(read(production)).toMatchObject({
      mail: undefined,
      requireVerifiedEmail: false,
      signsUpByMail: false,
    });
    const smtp = { STAK_SMTP_URL: 'smtp://mail.example:587', STAK_MAIL_FROM: 'Ferry <mail@example.com>' };
    expect(read({ ...production, ...smtp })).toMatchObject({
      mail: { url: 'smtp://mail.example:587', from: 'Ferry <mail@example.com>' },
      requireVerifiedEmail: true,
      signsUpByMail: true,
    });
    expect(read(smtp).signsUpByMail).toBe(false);
    expect(read({ ...production, ...smtp, STAK_DEMO: 'true' }).signsUpByMail).toBe(false);
    expect(read({ ...production, ...smtp, STAK_SIGN_UP_BY_MAIL: 'false' }).signsUpByMail).toBe(false);
    const byMail = { STAK_SIGN_UP_BY_MAIL: 'true' };
    expect(read({ ...byMail, STAK_DEMO: 'false' }).signsUpByMail).toBe(true); // to the folder
    expect(() => read({ ...production, ...byMail })).toThrow('needs STAK_SMTP_URL');
    expect(() => read({ ...smtp, ...byMail })).toThrow('no demo workspace');
    expect(read({ ...production, ...smtp, STAK_REQUIRE_VERIFIED_EMAIL: 'false' })).toMatchObject({
      requireVerifiedEmail: false,
    });
    expect(() => read({ STAK_SMTP_URL: 'smtp://mail.example' })).toThrow('needs STAK_MAIL_FROM');
    expect(() => read({ STAK_SMTP_URL: 'http://mail.example' })).toThrow('STAK_SMTP_URL');
    for (const from of ['Ferry', 'a@b, c@d', 'a@b\r\nBcc: c@d'])
      expect(() => read({ ...smtp, STAK_MAIL_FROM: from })).toThrow('STAK_MAIL_FROM');
    expect(() => read({ STAK_BRAND_COLOR: 'red' })).toThrow('STAK_BRAND_COLOR');
  });

  it('creates a demo workspace only where nobody else can reach it, unless requested', () => {
    const demoAt = (host: string, env = {}) => readServerConfig({ host }, env).demo;
    expect(['127.0.0.1', 'localhost', '::1'].map(host => demoAt(host))).toEqual([true, true, true]);
    expect(['0.0.0.0', '::', '192.0.2.1', '127.example.com'].map(host => demoAt(host))).toEqual(
      Array(4).fill(false),
    );
    const behindProxy = [{ STAK_PUBLIC_URL: 'https://stak.example.com' }, { STAK_TRUSTED_PROXY_HOPS: '1' }];
    expect(behindProxy.map(env => demoAt('127.0.0.1', env))).toEqual([false, false]);
    expect(readServerConfig({ host: '0.0.0.0' }, { STAK_DEMO: 'true' })).toMatchObject({
      demo: true,
      isPrivate: false,
    });
  });

  it('accepts origins with or without a trailing slash', () => {
    const env = {
      STAK_CORS_ORIGINS: 'https://a.example/,https://b.example',
      STAK_PUBLIC_URL: 'https://c.example/',
    };
    const { corsOrigins, publicUrl } = readServerConfig({}, env);
    expect([...corsOrigins, publicUrl]).toEqual([
      'https://a.example',
      'https://b.example',
      'https://c.example',
    ]);
  });

  it('is strict in production', () => {
    expect(() => readServerConfig({}, { STAK_ENV: 'production' })).toThrow('STAK_SECRET_KEYS must be set');
    const production = { STAK_ENV: 'production', STAK_SECRET_KEYS: goodKey };
    const strict = { isProduction: true, demo: false, outboundAllow: [], logLevel: 'info' };
    expect(readServerConfig({}, production)).toMatchObject(strict);
    expect(() => readServerConfig({ host: '0.0.0.0' }, production)).toThrow('STAK_PUBLIC_URL must be set');
    const plain = (STAK_PUBLIC_URL: string, env = {}) =>
      readServerConfig({}, { ...production, STAK_PUBLIC_URL, ...env }).publicUrl;
    expect(() => plain('http://stak.example.com')).toThrow('must begin with https://');
    expect(() => plain('http://127.0.0.1.example.com')).toThrow('must begin with https://');
    expect(plain('http://stak.example.com', { STAK_ALLOW_HTTP: 'true' })).toBe('http://stak.example.com');
    expect(plain('http://localhost:8787')).toBe('http://localhost:8787');
    expect(readServerConfig({}, { STAK_PUBLIC_URL: 'http://stak.example.com' }).isProduction).toBe(false);
    const env = { ...production, STAK_PUBLIC_URL: 'https://stak.example.com' };
    expect(readServerConfig({ host: '0.0.0.0' }, env)).toMatchObject(strict);
  });

  it('follows NODE_ENV, unless set explicitly', () => {
    const env = { NODE_ENV: 'production' };
    expect(() => readServerConfig({}, env)).toThrow('STAK_SECRET_KEYS must be set');
    expect(readServerConfig({}, { ...env, STAK_ENV: 'development' }).isProduction).toBe(false);
    expect(readServerConfig({}, { NODE_ENV: 'test' }).isProduction).toBe(false);
  });

  it('lets webhooks reach this machine only if nobody else can reach the server', () => {
    expect(readServerConfig({ host: '0.0.0.0' }, {}).outboundAllow).toEqual([]);
    const behindProxy = { STAK_TRUSTED_PROXY_HOPS: '1' };
    expect(readServerConfig({}, behindProxy).outboundAllow).toEqual([]);
  });

  it('distinguishes a misspelled variable from an unrelated one', () => {
    const slip = { STAK_SECRET_KEY: goodKey };
    expect(() => readServerConfig({}, slip)).toThrow('did you mean STAK_SECRET_KEYS?');
    const others = { STAK_URL: 'http://x', STAK_TOKEN: 'x', STAK_SERVICE_HOST: '10.0.0.1' };
    expect(readServerConfig({}, { ...others, STAK_DYNAMODB_PORT: '8000' })).toEqual(readServerConfig({}, {}));
  });

  it.each([
    [{ STAK_PORT: '70000' }, 'STAK_PORT'],
    [{ STAK_PUBLIC_URL: 'https://stak.example.com/path' }, 'origin'],
    [{ STAK_PUBLIC_URL: 'stak.example.com' }, 'STAK_PUBLIC_URL'],
    [{ STAK_STORE: 'aws' }, 'STAK_AWS_REGION'],
    [{ STAK_GITHUB_CLIENT_ID: 'abc' }, 'STAK_GITHUB_CLIENT_SECRET must be set too'],
    [{ STAK_STRIPE_SECRET_KEY: 'sk' }, 'STAK_STRIPE_WEBHOOK_SECRET'],
    [{ STAK_LOG_LEVEL: 'loud' }, 'STAK_LOG_LEVEL'],
    [{ STAK_SECRET_KEYS: ' , ' }, 'STAK_SECRET_KEYS: names nothing'],
    [{ STAK_CORS_ORIGINS: 'https://a.example, b.example' }, 'STAK_CORS_ORIGINS'],
  ])('refuses %j', (env, why) => {
    expect(() => readServerConfig({}, env)).toThrow(why);
  });

  it('documents every variable in .env.example', () => {
    const text = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');
    const named = [...text.matchAll(/^([A-Z0-9_]+)=/gm)].map(found => found[1]);
    expect(named).toEqual(Object.keys(serverVariables));
    const values = Object.fromEntries(
      [...text.matchAll(/^([A-Z0-9_]+)=(.*)$/gm)].map(found => found.slice(1)),
    );
    expect(readServerConfig({}, values), 'the example shows the defaults').toEqual(readServerConfig({}, {}));
  });
});

describe('the secret keys', () => {
  const folders: string[] = [];
  afterEach(() => Promise.all(folders.splice(0).map(folder => rm(folder, { recursive: true }))));

  it('keep their order, newest first', async () => {
    const env = { STAK_SECRET_KEYS: `${goodKey.replace('k1', 'k2')},${goodKey}` };
    expect((await readSecretKeys(readServerConfig({}, env))).map(key => key.id)).toEqual(['k2', 'k1']);
  });

  it('have unique ids', async () => {
    const config = readServerConfig({}, { STAK_SECRET_KEYS: `${goodKey},${goodKey}` });
    await expect(readSecretKeys(config)).rejects.toThrow('two keys with the id "k1"');
  });

  it.each([
    ['change-me', 'needs id:secret'],
    [`k1:${'A'.repeat(43)}=`, 'is not random'],
    [`k1:${Buffer.from('x'.repeat(20)).toString('base64')}`, 'needs id:secret'],
  ])('refuses %s', (text, why) => {
    expect(() => parseSecretKey(text)).toThrow(why);
  });

  it('are generated once per data folder, readable by its owner only', async () => {
    const path = await mkdtemp(join(tmpdir(), 'stak-secrets-'));
    folders.push(path);
    const config = readServerConfig({ path }, {});
    const [first, second] = await Promise.all([readSecretKeys(config), readSecretKeys(config)]);
    expect(first).toEqual(second);
    expect((await stat(join(path, 'secret-key'))).mode & 0o077).toBe(0);
  });
});
