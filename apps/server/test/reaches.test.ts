import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@stak/client';
import type { RouteSpec } from '@stak/http';
import { createLogger } from '@stak/kit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { endpointsOf } from '../src/compose/compose.ts';
import { describeServices } from '../src/compose/document.ts';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';

const routes = endpointsOf(describeServices()).map(({ route }) => route);
const named = ({ operationId = '' }: RouteSpec) => operationId;
const reaching = (reach: RouteSpec['reaches']) =>
  routes.filter(({ reaches }) => reaches === reach).map(named);

describe('what a route reaches', () => {
  it('is reviewed for each that reaches something', () => {
    expect(reaching('outside').toSorted()).toEqual([
      'accounts.changeOrganisationProvider',
      'accounts.finishOrganisationSignIn',
      'accounts.linkOrganisationProvider',
      'accounts.startOrganisationSignIn',
      'accounts.testOrganisationProvider',
      'agents.putChannelCredentials',
      'agents.putCustomSkill',
      'agents.putMcpServer',
      'agents.refreshMcpServer',
      'agents.testCustomSkill',
      'tenants.claimChannel',
      'tenants.finishPortalSignIn',
      'tenants.putPortalProvider',
      'tenants.startPortalSignIn',
      'tenants.testPortalProvider',
      'webhooks.createConnection',
      'webhooks.createJob',
      'webhooks.createSource',
      'webhooks.editConnection',
      'webhooks.editSource',
      'webhooks.replayEvent',
      'webhooks.testConnection',
    ]);
    expect(reaching('model').toSorted()).toEqual([
      'agents.callA2a',
      'agents.createChatCompletion',
      'agents.createResponse',
      'agents.decideApproval',
      'agents.sendMessage',
      'agents.sendUiMessage',
      'agents.takeWebhook',
      'agents.testModel',
    ]);
    expect(reaching('mail').toSorted()).toEqual([
      'accounts.changeEmail',
      'accounts.invite',
      'accounts.requestPasswordReset',
      'accounts.requestSignUp',
      'accounts.resendInvitation',
      'accounts.signUp',
      'tenants.createInvitation',
      'tenants.requestSignIn',
    ]);
    const conditions = routes.flatMap(one => (one.reachesWith ? [[named(one), ...one.reachesWith]] : []));
    expect(conditions.toSorted()).toEqual([
      ['webhooks.createSource', 'alertUrl'],
      ['webhooks.editSource', 'alertUrl'],
    ]);
  });

  // Addresses in these bodies are not called, and no mail is sent to them.
  const stored = [
    'accounts.logIn', // whose password it is
    'inbox.broadcast', // links in messages
    'inbox.bulk',
    'inbox.publish',
    'tasks.updateMe', // shown to the user
    'tenants.createUser', // for sign-in codes, which `tenants.requestSignIn` sends
    'tenants.updateUser',
  ];

  it('is something wherever a body names an address', () => {
    const suspects = routes.filter(({ request }) => {
      const content = request?.body?.content;
      if (!content || !('application/json' in content)) return false;
      const names = propertiesOf(
        z.toJSONSchema(content['application/json'].schema, { unrepresentable: 'any' }),
      );
      return names.some(name => /ur[il]s?$|issuer|endpoint|e_?mail$|recipient|callback/i.test(name));
    });
    expect(suspects.length).toBeGreaterThan(10);
    const undeclared = suspects.filter(({ reaches }) => reaches === 'nothing').map(named);
    expect(undeclared.toSorted()).toEqual(stored.toSorted());
  });

  it('is refused to accounts that have not verified their address', async () => {
    const { url, called, mails } = await openServer();
    const address = 'ann@example.com';
    const password = 'seven green umbrellas';
    const { data } = await createClient({ baseUrl: url }).accounts.signUp({
      body: { email: address, password, name: 'Ann', cookie: false },
    });
    const { tenants, webhooks, accounts } = createClient({ baseUrl: url, token: data.access_token });
    const anonymous = createClient({ baseUrl: url });
    const tenant_id = 'books';
    await tenants.create({ body: { tenant_id, name: 'Books', status: 'active' } });
    const { data: source } = await webhooks.createSource({ body: { name: 'quiet' } });
    const user = { user_id: 'bob', display_name: 'Bob', email: 'bob@example.com' };
    await tenants.createUser({ tenant_id, body: { ...user, role: 'admin' } });
    const { data: minted } = await tenants.mintToken({
      tenant_id,
      body: { sub: 'bob', scope: 'tenant:manage' },
    });
    const admin = createClient({ baseUrl: url, token: minted.token });
    const provider = {
      issuer: called.url,
      client_id: 'x',
      client_secret: 'y',
      domains: ['example.com'],
    };
    const alertUrl = `${called.url}/alerts`;
    const attempts: Record<string, () => Promise<unknown>> = {
      provider: () => tenants.putPortalProvider({ tenant_id, body: provider }),
      'provider by an admin': () => admin.tenants.putPortalProvider({ tenant_id, body: provider }),
      'test of a provider': () => tenants.testPortalProvider({ tenant_id }),
      'sign-in at the provider': () => anonymous.tenants.startPortalSignIn({ tenant_id }),
      'new source': () => webhooks.createSource({ body: { name: 'loud', alertUrl } }),
      'edited source': () => webhooks.editSource({ sourceId: source.sourceId, body: { alertUrl } }),
      'sign-in code': () => anonymous.tenants.requestSignIn({ tenant_id, body: { email: user.email } }),
      invitation: () =>
        tenants.createInvitation({ tenant_id, body: { email: 'eve@example.com', role: 'member' } }),
      'other address': () => accounts.changeEmail({ body: { email: 'eve@example.com', password } }),
    };
    for (const [name, attempt] of Object.entries(attempts))
      await expect(attempt(), name).rejects.toMatchObject({ code: 'accounts.email_unverified' });
    expect(called.count).toBe(0);
    expect((await mails()).length).toBeLessThan(2); // none but the one for Ann herself
    const unset = { sourceId: source.sourceId, body: { alertUrl: null, name: 'still quiet' } };
    expect((await webhooks.editSource(unset)).status).toBe(200);
  });
});

function propertiesOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(propertiesOf);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => [
    ...(key === 'properties' ? Object.keys(value) : []),
    ...propertiesOf(value),
  ]);
}

async function openServer() {
  const folder = await mkdtemp(join(tmpdir(), 'stak-reaches-'));
  const called = { url: '', count: 0 };
  const outside = createServer((_, response) => {
    called.count++;
    response.end('{}');
  });
  await new Promise<void>(resolve => outside.listen(0, '127.0.0.1', resolve));
  called.url = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
  const variables = {
    STAK_SMTP_URL: pathToFileURL(folder).href,
    STAK_REQUIRE_VERIFIED_EMAIL: 'true',
    STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
    STAK_LAKE: 'off',
  };
  const server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, variables), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  onTestFinished(async () => {
    await server.stop();
    outside.close();
    await rm(folder, { recursive: true });
  });
  return {
    url: server.url,
    called,
    mails: async () => (await readdir(folder)).filter(name => name.endsWith('.eml')),
  };
}
