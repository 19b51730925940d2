import { isDeepStrictEqual } from 'node:util';
import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { endpointsOf } from '../src/compose/compose.ts';
import { describeServices } from '../src/compose/document.ts';
import { readServerConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';
import { openFixture, send } from './walk/fixture.ts';
import { requestOf, tokenOf } from './walk/step.ts';
import { steps } from './walk/steps.ts';

const tenant_id = 'books';

describe('the audit trail', () => {
  let server: RunningServer;
  let host: ReturnType<typeof createClient>;
  beforeAll(async () => {
    const config = readServerConfig({ port: 0, memory: true, demo: false }, { STAK_LAKE: 'off' });
    server = await startServer(config, {
      log: createLogger({ level: 'silent' }),
      passwordCost: { logN: 4, r: 8, p: 1 },
    });
    const body = { email: 'ann@example.com', password: 'seven green umbrellas', name: 'Ann', cookie: false };
    const { data } = await createClient({ baseUrl: server.localUrl }).accounts.signUp({ body });
    host = createClient({ baseUrl: server.localUrl, token: data.access_token });
    await host.tenants.create({ body: { tenant_id, name: 'Books', status: 'active' } });
  }, 30_000);
  afterAll(() => server.stop());

  // Everything else that changes something is a line, or is written by the service itself.
  it('leaves out regular work of hosts and users, reviewed one by one', () => {
    const silent = endpointsOf(describeServices())
      .map(({ route }) => route)
      .filter(({ method, audit }) => method !== 'get' && audit === false)
      .map(({ operationId = '' }) => operationId);
    expect(silent.toSorted()).toEqual([
      'accounts.beginAuthenticator', // nothing changes before it is confirmed
      'accounts.beginPasskey',
      'accounts.beginPasskeySignIn',
      'accounts.beginPasskeyStepUp',
      'accounts.mintInboxToken', // for their own inbox
      'accounts.readAppRequest',
      'accounts.readInvitation',
      'accounts.refresh',
      'accounts.registerApp', // of nobody yet
      'accounts.requestSignUp',
      'accounts.sendVerification', // to their own address
      'accounts.testOrganisationProvider',
      'agents.callA2a',
      'agents.cancelAnswer',
      'agents.cancelResponse',
      'agents.createChatCompletion',
      'agents.createConversation',
      'agents.createResponse',
      'agents.rateAnswer',
      'agents.renameConversation',
      'agents.sendMessage',
      'agents.sendUiMessage',
      'agents.takeWebhook',
      'inbox.archive',
      'inbox.archiveMany',
      'inbox.broadcast', // stored with its sender
      'inbox.bulk',
      'inbox.join',
      'inbox.markRead',
      'inbox.markUnread',
      'inbox.publish',
      'inbox.readMany',
      'inbox.seeMany',
      'inbox.snooze',
      'inbox.unarchive',
      'inbox.unreadMany',
      'inbox.unsnooze',
      'tasks.create', // tasks have a history of their own
      'tasks.delete', // into the trash
      'tasks.move',
      'tasks.restore',
      'tasks.update',
      'tasks.updateMe',
      'tenants.acceptInvitation',
      'tenants.joinPortal',
      'tenants.refreshSession',
      'tenants.requestSignIn',
      'tenants.signIn',
      'tenants.signOut',
      'tenants.updatePortalUser',
      'webhooks.receive',
      'webhooks.tryRules', // as somebody types them; nothing changes
      'webhooks.whatIf',
    ]);
  });

  it('includes lake queries, exports and decisions', () => {
    const lines = endpointsOf(describeServices()).flatMap(({ route }) =>
      route.audit === true ? [route.operationId] : [],
    );
    for (const id of [
      'lake.query',
      'lake.export',
      'lake.icebergTable',
      'lake.operatorIcebergTable',
      'tenants.exportUser',
      'tasks.export',
    ])
      expect(lines).toContain(id);
  });

  // Steps of the walk that write no line into the owner's trail.
  const withoutLine = new Set([
    'accounts.createOrganisation', // in the trail of the new one: see below
    'accounts.transferOwnership', // to themselves: with another, organisations-suite.ts
    'lake.setTexts', // off as before: when it changes, lake-texts.test.ts
  ]);

  // Only after much else: services/agents/test/approvals.test.ts.
  const elsewhere = new Set(['agents.decideApproval']);

  // Operations that write lines of their own: every step of the walk in which they succeed.
  it('has a line of each operation that says so', async () => {
    const fixture = await openFixture();
    onTestFinished(async () => void (await fixture.server.stop()));
    const own = new Set(
      fixture.server.routes
        .filter(({ audit, operationId = '' }) => audit === 'own' && !elsewhere.has(operationId))
        .map(({ operationId }) => operationId),
    );
    const newest = async () => {
      const token = fixture.owner.keys.admin;
      const { json } = await send(fixture.server.url, { method: 'GET', path: '/v1/audit?limit=1', token });
      return (json as { data?: unknown[] }).data?.[0]; // none of an account that was just deleted
    };
    const silent: string[] = [];
    let count = 0;
    for (const step of steps.filter(one => one.operation.startsWith('accounts.') || own.has(one.operation))) {
      const isExpected = own.has(step.operation) && !withoutLine.has(step.operation);
      const isTried = isExpected && step.as !== 'nobody' && (step.status ?? 200) < 300;
      const before = isTried && (await newest());
      const token = tokenOf(fixture, step, 'owner');
      const answer = await send(fixture.server.url, { ...requestOf(fixture, step), ...(token && { token }) });
      step.keep?.(fixture, answer);
      if (!isTried || answer.status >= 300) continue;
      count += 1;
      if (isDeepStrictEqual(await newest(), before)) silent.push(step.operation);
    }
    expect(silent).toEqual([]);
    expect(count).toBeGreaterThan(8);
  }, 60_000);

  it('of a new organisation begins with its creation', async () => {
    const person = { email: 'bea@example.com', password: 'seven red umbrellas', name: 'Bea', cookie: false };
    const { data } = await createClient({ baseUrl: server.localUrl }).accounts.signUp({ body: person });
    const { accounts } = createClient({ baseUrl: server.localUrl, token: data.access_token });
    const { data: made } = await accounts.createOrganisation({ body: { name: 'Books elsewhere' } });
    const body = { accountId: made.accountId, cookie: false };
    const { data: switched } = await accounts.switchOrganisation({ body });
    const there = createClient({ baseUrl: server.localUrl, token: switched.access_token });
    const { data: trail } = await there.accounts.listAudit({ limit: 100 });
    expect(trail.data.at(-1)).toMatchObject({ action: 'organisation.created', via: 'session' });
  });

  it('has lines for secret addresses, deleted data, imports, memory and saved views', async () => {
    await host.tasks.replaceFeed();
    await host.tasks.revokeFeed();
    const { data: task } = await host.tasks.create({ body: { title: 'gone' } });
    await host.tasks.delete({ task_id: task.task_id });
    await host.tasks.purge({ task_id: task.task_id });
    await host.accounts.save({ kind: 'sql', name: 'By day', body: { text: 'select 1' } });
    await host.accounts.removeSaved({ kind: 'sql', name: 'By day' });
    const memory = { tenant_id, user_id: 'ines', session_id: 'earlier' };
    await host.agents.editMemory({ ...memory, body: { key_facts: [{ fact: 'likes poems' }] } });
    await host.agents.deleteMemory(memory);
    const { data: minted } = await host.tenants.mintToken({
      tenant_id,
      body: { sub: 'ines', scope: 'agents:chat' },
    });
    const ines = createClient({ baseUrl: server.localUrl, token: minted.token });
    const { data: made } = await ines.agents.createConversation({ tenant_id, body: {} });
    await ines.agents.deleteConversation({ tenant_id, conversation_id: made.conversation_id });
    const { data } = await host.accounts.listAudit({ limit: 100 });
    const lines = data.data.map(({ action, via }) => `${action} ${via}`);
    for (const line of [
      'tasks.replaceFeed session',
      'tasks.revokeFeed session',
      'tasks.purge session',
      'accounts.save session',
      'accounts.removeSaved session',
      'agents.editMemory session',
      'agents.deleteMemory session',
      'agents.deleteConversation end_user',
    ])
      expect(lines.filter(one => one === line)).toEqual([line]);
    expect(lines.join()).not.toContain('tasks.create');
  });
});
