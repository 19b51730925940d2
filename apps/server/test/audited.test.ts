import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpointsOf } from '../src/compose.ts';
import { readServerConfig } from '../src/config.ts';
import { describeServices } from '../src/document.ts';
import { type RunningServer, startServer } from '../src/server.ts';

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
      .map(({ operationId = '' }) => operationId)
      .filter(id => !id.startsWith('accounts.')); // sign-in, and challenges of passkeys
    expect(silent.toSorted()).toEqual([
      'agents.createConversation',
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
    ]);
  });

  it('includes lake queries, exports and decisions', () => {
    const lines = endpointsOf(describeServices()).flatMap(({ route }) =>
      route.audit === true ? [route.operationId] : [],
    );
    for (const id of [
      'agents.decideApproval',
      'lake.query',
      'lake.export',
      'tenants.exportUser',
      'tasks.export',
    ])
      expect(lines).toContain(id);
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
