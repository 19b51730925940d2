import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient, StakError } from '@stak/client';
import { createLogger } from '@stak/kit';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';

async function open(variables: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'stak-mails-'));
  const env = { STAK_LAKE: 'off', STAK_SMTP_URL: pathToFileURL(folder).href, ...variables };
  const server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, env), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });
  // The newest mail with this subject, when it has come; broken lines put together again.
  const mail = (subject: string) =>
    vi.waitFor(async () => {
      const files = (await readdir(folder)).filter(name => name.endsWith('.eml')).toSorted();
      const texts = await Promise.all(files.map(name => readFile(join(folder, name), 'utf8')));
      const found = texts.findLast(text => text.includes(`Subject: ${subject}`));
      expect(found, subject).toBeDefined();
      return found!.replaceAll('=\r\n', '').replaceAll('=3D', '=');
    }, 25_000);
  return { url: server.url, mail };
}

const person = { email: 'ann@example.com', password: 'seven green umbrellas', name: 'Ann', cookie: false };
const codeOf = (error: unknown) => (error instanceof StakError ? error.code : error);

it.each(['STAK_ANTHROPIC_API_KEY', 'STAK_OPENAI_API_KEY', 'STAK_GEMINI_API_KEY'])(
  'lets only people with a verified address use a model by %s',
  async key => {
    const { url } = await open({ STAK_REQUIRE_VERIFIED_EMAIL: 'true', [key]: 'a key' });
    const { data } = await createClient({ baseUrl: url }).accounts.signUp({ body: person });
    const { agents } = createClient({ baseUrl: url, token: data.access_token });
    await expect(agents.testModel({ body: {} }).catch(codeOf)).resolves.toBe('accounts.email_unverified');
  },
);

it('lets only people with a verified address send requests and mail to others', async () => {
  const { url, mail } = await open({
    STAK_REQUIRE_VERIFIED_EMAIL: 'true',
    STAK_OPENAI_URL: 'http://127.0.0.1:9/v1',
  });
  const { data } = await createClient({ baseUrl: url }).accounts.signUp({ body: person });
  const client = createClient({ baseUrl: url, token: data.access_token });
  const { data: made } = await client.webhooks.createSource({ body: { name: 'shop' } });
  const connect = () =>
    client.webhooks.createConnection({
      sourceId: made.sourceId,
      body: { name: 'out', destinationUrl: 'https://example.com/hook' },
    });
  await client.tenants.create({ body: { tenant_id: 'shop', name: 'Shop', status: 'active' } });
  await client.tenants.createUser({ tenant_id: 'shop', body: { user_id: 'bob', display_name: 'Bob' } });
  const { data: minted } = await client.tenants.mintToken({
    tenant_id: 'shop',
    body: { sub: 'bob', scope: 'agents:chat' },
  });
  const say = () =>
    createClient({ baseUrl: url, token: minted.token }).agents.sendMessage({
      tenant_id: 'shop',
      conversation_id: 'c',
      body: { content: 'hello' },
    });
  const invite = () =>
    client.accounts.invite({ body: { email: 'eve@example.com', role: 'admin' } }).catch(codeOf);
  await expect(invite()).resolves.toBe('accounts.email_unverified');
  await expect(connect().catch(codeOf)).resolves.toBe('accounts.email_unverified');
  await expect(say().catch(codeOf)).resolves.toBe('accounts.email_unverified');

  const token = /#token=(\S+)/.exec(await mail('Verify your address for Stak'))![1]!;
  await client.accounts.verifyEmail({ body: { token } });
  await expect(connect()).resolves.toMatchObject({ status: 201 });
  await expect(invite()).resolves.toMatchObject({ status: 201 });
  await expect(say().catch(codeOf)).resolves.not.toBe('accounts.email_unverified');
});

it('resets a forgotten password, with the operator’s name and colour', async () => {
  const { url, mail } = await open({ STAK_BRAND_NAME: 'Ferry', STAK_BRAND_COLOR: '#aa3300' });
  const { accounts } = createClient({ baseUrl: url });
  await accounts.signUp({ body: person });
  await accounts.requestPasswordReset({ body: { email: person.email } });
  const text = await mail('Reset your Ferry password');
  expect(text).toContain('#aa3300');
  const token = /#token=(\S+)/.exec(text)![1]!;
  await accounts.finishPasswordReset({ body: { token, newPassword: 'eleven blue lampposts' } });
  const { email } = person;
  const answer = await accounts.logIn({ body: { email, password: 'eleven blue lampposts', cookie: false } });
  expect(answer.status).toBe(200);
});

it('limits a key to its tenants', async () => {
  const { url } = await open({});
  const { data } = await createClient({ baseUrl: url }).accounts.signUp({ body: person });
  const session = createClient({ baseUrl: url, token: data.access_token });
  for (const tenant_id of ['ours', 'other'])
    await session.tenants.create({ body: { tenant_id, name: tenant_id, status: 'active' } });
  const { data: made } = await session.accounts.createKey({
    body: { name: 'ours', permissions: 'admin', tenants: ['ours'] },
  });
  const limited = createClient({ baseUrl: url, token: made.key });
  expect((await limited.accounts.whoAmI()).data).toMatchObject({ tenants: ['ours'] });
  expect((await limited.tenants.get({ tenant_id: 'ours' })).status).toBe(200);
  const refused: (() => Promise<unknown>)[] = [
    () => limited.tenants.get({ tenant_id: 'other' }),
    () => limited.tenants.list({}),
    () => limited.tenants.delete({ tenant_id: 'other' }),
    () => limited.webhooks.createSource({ body: { name: 'shop' } }),
    () => limited.accounts.getMe(),
    () => limited.accounts.listAudit({}),
    () => limited.accounts.mintInboxToken(),
    () => limited.tasks.list({}),
  ];
  for (const one of refused) await expect(one().catch(codeOf)).resolves.toBe('accounts.key_tenant_refused');
});
