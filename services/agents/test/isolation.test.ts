import type { DynamoClient } from '@stak/table';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Fixture, openFixture, say, targets } from './agents-fixture.ts';

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
    model: 'default',
    version: '1',
    response_id: `resp_${Buffer.from('c\nmsg_x').toString('base64url')}`,
  };
  const bodies: Record<string, unknown> = {
    'agents.createConversation': {},
    'agents.renameConversation': { title: 'x' },
    'agents.sendMessage': { content: 'hello' },
    'agents.sendUiMessage': {
      messages: [{ id: 'q', role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
    },
    'agents.createChatCompletion': {
      model: 'default',
      messages: [{ role: 'user', content: 'hello' }],
      metadata: { conversation_id: 'c' },
    },
    'agents.createResponse': { model: 'default', input: 'hello', conversation: 'c' },
    'agents.callA2a': { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'task_x' } },
    'agents.importConversation': { messages: [{ role: 'user', content: 'x' }] },
    'agents.decideApproval': { approved: true },
    'agents.rateAnswer': { rating: 'good' },
    'agents.saveAgent': { prompt: 'x' },
    'agents.publishAgent': {},
    'agents.putCustomSkill': { description: 'x', url: 'https://example.com/' },
    'agents.testCustomSkill': { arguments: {} },
    'agents.putMcpServer': { url: 'http://127.0.0.1:9/mcp' },
    'agents.acceptMcpTools': { tools: [{ name: 'x', hash: 'x' }] },
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
      const code = body.code ?? body.error?.data?.[0]?.reason ?? body.error?.code;
      expect([route.operationId, status, code]).toEqual([
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

// It lists for ann what is bob's by now, as an index does for a moment after a conversation was deleted and made anew.
const withLateIndex = (client: DynamoClient): DynamoClient => ({
  ...client,
  async query(input) {
    const output = await client.query(input);
    const text = JSON.stringify(input);
    if (input.IndexName !== 'by-user' || !text.includes('acme#ann')) return output;
    const { Items = [] } = await client.query(JSON.parse(text.replaceAll('acme#ann', 'acme#bob')));
    return { ...output, Items: [...(output.Items ?? []), ...Items] };
  },
});

describe('an index that is late', () => {
  const open = async () => {
    const target = await targets.embedded();
    const fixture = await openFixture(async () => target, { client: withLateIndex(target.client) });
    onTestFinished(target.close);
    fixture.tenants.get('acme')!.settings = { enabled_skills: ['search_history'] };
    await say(fixture, 'anns', 'the parcel is blue', { user_id: 'ann' });
    await say(fixture, 'bobs', 'the parcel is green', { user_id: 'bob' });
    return fixture;
  };

  it('finds nothing of another user', async () => {
    const fixture = await open();
    const { body } = await say(fixture, 's', 'search my history for parcel', { user_id: 'ann' });
    expect(body.reply.content).toContain('blue');
    expect(body.reply.content).not.toContain('green');
  });

  it('exports and erases nothing of another user', async () => {
    const { agents, call } = await open();
    const exported: unknown[] = [];
    for await (const one of agents.eraser.exportUser('acme', 'ann')) exported.push(one);
    expect(JSON.stringify(exported)).toContain('blue');
    expect(JSON.stringify(exported)).not.toContain('green');
    for (let left = 10; (await agents.eraser.eraseUser('acme', 'ann')) === 'more'; left--)
      expect(left).toBeGreaterThan(0);
    expect((await call('GET', '/v1/tenants/acme/conversations/anns')).status).toBe(404);
    expect((await call('GET', '/v1/tenants/acme/conversations/bobs')).status).toBe(200);
  });
});
