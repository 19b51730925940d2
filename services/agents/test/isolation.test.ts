import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fixture, openFixture, say } from './agents-fixture.ts';

// Every route, called by somebody of another tenant for things that are there.
describe('another tenant', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture();
    fixture.tenants.get('acme')!.settings = { enabled_skills: ['remember'] };
    await say(fixture, 'c', 'remember that this is ours', { user_id: 'ann' });
    fixture.claims.set('slack#T1', 'acme');
  });
  afterAll(() => fixture.target.close());

  const values: Record<string, string> = {
    tenant_id: 'acme',
    conversation_id: 'c',
    seq: '1',
    message_id: 'msg_x',
    approval_id: 'apr_x',
    user_id: 'ann',
    session_id: 'c',
    name: 'mine',
    type: 'slack',
    channel_id: 'T1',
  };
  const bodies: Record<string, unknown> = {
    'agents.createConversation': {},
    'agents.renameConversation': { title: 'x' },
    'agents.sendMessage': { content: 'hello' },
    'agents.sendUiMessage': {
      messages: [{ id: 'q', role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
    },
    'agents.importConversation': { messages: [{ role: 'user', content: 'x' }] },
    'agents.decideApproval': { approved: true },
    'agents.rateAnswer': { rating: 'good' },
    'agents.putCustomSkill': { description: 'x', url: 'https://example.com/' },
    'agents.testCustomSkill': { arguments: {} },
    'agents.putMcpServer': { url: 'http://127.0.0.1:9/mcp' },
    'agents.changeMemorySettings': { is_declined: true },
    'agents.editMemory': { summary: 'x' },
    'agents.putChannelCredentials': { signing_secret: 'x', bot_token: 'x' },
  };

  it.each(['globex', 'globex~ann'])('gets nothing as %s, whatever it calls', async as => {
    const before = await fixture.target.client.scan({ TableName: 'conversations' });
    let called = 0;
    for (const route of fixture.routes) {
      if (!route.operationId?.startsWith('agents.') || !route.path.includes('{tenant_id}')) continue;
      const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => values[name]!);
      const send = bodies[route.operationId];
      const { status, body } = await fixture.call(route.method.toUpperCase(), path, {
        as,
        ...(send ? { send } : {}),
      });
      const isForAccounts = route.auth === 'account' && as.includes('~');
      expect([route.operationId, status, body.code]).toEqual([
        route.operationId,
        ...(isForAccounts ? [403, 'http.principal_refused'] : [404, 'tenants.not_found']),
      ]);
      called += 1;
    }
    expect(called).toBeGreaterThan(20);
    expect(await fixture.target.client.scan({ TableName: 'conversations' })).toEqual(before);
  });

  it('has separate conversations with the same ids', async () => {
    const send = { content: 'hello', user_id: 'ann' };
    await fixture.call('POST', '/v1/tenants/globex/conversations/c/messages', { as: 'globex', send });
    const { body } = await fixture.call('GET', '/v1/tenants/globex/conversations/c', { as: 'globex~ann' });
    expect(body).toMatchObject({ turns: 1, messages: [{ content: 'hello' }, {}] });
  });
});
