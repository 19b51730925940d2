import { describe, expect, it, onTestFinished } from 'vitest';
import { type Fixture, openFixture, say, targets } from './agents-fixture.ts';
import { openAgent, say as says } from './openai-fixture.ts';

const base = '/v1/tenants/acme/agents';
const save = (fixture: Fixture, name: string, send: object = {}, init: object = {}) =>
  fixture.call('PUT', `${base}/${name}`, { send, ...init });
const publish = (fixture: Fixture, name: string, send: object = {}, init: object = {}) =>
  fixture.call('POST', `${base}/${name}/publish`, { send, ...init });
const begin = (fixture: Fixture, send: object, as = 'acme') =>
  fixture.call('POST', '/v1/tenants/acme/conversations', { send, as });
const systemOf = (asked: { messages: { role: string; content: string }[] } | undefined) =>
  asked?.messages.find(({ role }) => role === 'system')?.content;

async function open(make = targets.embedded) {
  const fixture = await openFixture(make);
  onTestFinished(fixture.target.close);
  return fixture;
}

describe.each(Object.entries(targets))('agents of a tenant (%s)', (_, make) => {
  it('are drafts, then versions, and go back to earlier ones', async () => {
    const fixture = await open(make);
    const created = await save(fixture, 'support', { prompt: 'One' });
    expect(created).toMatchObject({
      status: 200,
      body: { published_version: null, published: null, last_version: 0, has_changes: true },
    });
    expect((await publish(fixture, 'support', { note: 'first' })).body).toMatchObject({
      published_version: 1,
      last_version: 1,
      has_changes: false,
    });
    expect((await save(fixture, 'support', { prompt: 'Two' })).body).toMatchObject({
      published: { prompt: 'One' },
      draft: { prompt: 'Two' },
      has_changes: true,
    });
    const differences = await fixture.call('GET', `${base}/support/differences`);
    expect(differences.body).toEqual({
      from: 1,
      to: 'draft',
      data: [{ field: 'prompt', before: 'One', after: 'Two' }],
    });
    expect((await publish(fixture, 'support')).body).toMatchObject({ published_version: 2 });
    expect((await publish(fixture, 'support', { version: 1 })).body).toMatchObject({
      published_version: 1,
      last_version: 2,
      published: { prompt: 'One' },
      draft: { prompt: 'Two' },
    });
    const versions = await fixture.call('GET', `${base}/support/versions`);
    expect(versions.body.data).toMatchObject([
      { version: 2, is_published: false, note: null },
      { version: 1, is_published: true, note: 'first' },
    ]);
    const second = await fixture.call('GET', `${base}/support/versions/2`);
    expect(second.body.definition.prompt).toBe('Two');
    const missing = await publish(fixture, 'support', { version: 3 });
    expect([missing.status, missing.body.code]).toEqual([404, 'agents.version_not_found']);
  });

  it('are published once, however often and from wherever they are published', async () => {
    const fixture = await open(make);
    await save(fixture, 'support', { prompt: 'One' });
    let left = 8;
    const all = Promise.all(
      Array.from({ length: 8 }, () => publish(fixture, 'support').finally(() => left--)),
    );
    while (left > 0) await fixture.clock.advance(50);
    expect((await all).map(({ body }) => body.published_version)).toEqual(Array(8).fill(1));
    const { body } = await fixture.call('GET', `${base}/support/versions`);
    expect(body.data).toHaveLength(1);
  });

  it('are changed by the one who has read them last', async () => {
    const fixture = await open(make);
    const { etag } = await save(fixture, 'support', { prompt: 'One' });
    const again = await save(fixture, 'support', { prompt: 'New' }, { headers: { 'If-None-Match': '*' } });
    expect([again.status, again.body.code]).toEqual([412, 'agents.agent_exists']);
    expect((await save(fixture, 'support', { prompt: 'Two' }, { ifMatch: etag })).status).toBe(200);
    expect((await save(fixture, 'support', { prompt: 'Three' }, { ifMatch: etag })).status).toBe(412);
    expect((await publish(fixture, 'support', {}, { ifMatch: etag })).status).toBe(412);
  });

  it('are gone with their versions, and what remains is answered by the settings of the tenant', async () => {
    const fixture = await open(make);
    await save(fixture, 'support', { greeting: 'This is support.' });
    await publish(fixture, 'support');
    await begin(fixture, { conversation_id: 'c', agent: 'support' });
    expect((await say(fixture, 'c', 'Hello')).body).toMatchObject({
      reply: { content: 'This is support.' },
      agent: 'support',
      agent_version: 1,
    });
    expect((await fixture.call('DELETE', `${base}/support`)).status).toBe(204);
    expect((await fixture.call('DELETE', `${base}/support`)).status).toBe(404);
    expect((await say(fixture, 'c', 'Hello')).body).toMatchObject({ agent: 'default', agent_version: null });
    await save(fixture, 'support', {});
    expect((await fixture.call('GET', `${base}/support/versions`)).body.data).toEqual([]);
  });
});

describe('the agent of the settings', () => {
  it('is listed first, and changed with the settings', async () => {
    const fixture = await open();
    fixture.tenants.get('acme')!.settings = { system_prompt_override: 'Be {{brief}}.' };
    await save(fixture, 'zoe');
    const { body } = await fixture.call('GET', base);
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['default', 'zoe']);
    const settings = await fixture.call('GET', `${base}/default`);
    expect(settings.body).toMatchObject({ is_settings: true, published: { prompt: 'Be {{brief}}.' } });
    for (const refused of [
      await save(fixture, 'default'),
      await publish(fixture, 'default'),
      await fixture.call('DELETE', `${base}/default`),
    ])
      expect([refused.status, refused.body.code]).toEqual([409, 'agents.agent_is_settings']);
  });

  it('answers in conversations of an earlier version, with its prompt as it is', async () => {
    const { fixture, stub } = await openAgent([says('Yes.')], {
      settings: { system_prompt_override: 'Say {{date}}.' },
    });
    expect((await say(fixture, 'c', 'What now?')).body).toMatchObject({
      agent: 'default',
      handed_from: null,
    });
    expect(systemOf(stub.asked[0])).toBe('Say {{date}}.');
    expect((await fixture.call('GET', '/v1/tenants/acme/conversations/c')).body).toMatchObject({
      agent: 'default',
      agent_version: null,
    });
  });
});

describe('a definition', () => {
  it.each<[string, object]>([
    ['an unknown skill', { skills: ['unheard_of'] }],
    ['an approval of a skill that it does not have', { approvals: { pay: 'user' } }],
    ['an unknown variable', { prompt: 'Dear {{customer}}' }],
    ['a variable that every prompt has', { variables: { date: 'x' } }],
    ['a model that is not there', { model: { provider: 'anthropic', model: 'claude' } }],
    ['itself as a colleague', { handoffs: ['support'] }],
    ['a colleague that is not there', { asks: ['nobody'] }],
  ])('with %s is refused', async (_, send) => {
    const fixture = await open();
    const { status, body } = await save(fixture, 'support', send);
    expect([status, body.code]).toEqual([422, 'agents.agent_refused']);
    expect((await fixture.call('GET', `${base}/support`)).status).toBe(404);
  });

  it('has bounds, and so has their number', async () => {
    const fixture = await open();
    expect((await save(fixture, 'support', { prompt: 'x'.repeat(20_001) })).status).toBe(400);
    expect((await save(fixture, 'Support')).status).toBe(400);
    let left = 60;
    const all = Promise.all(
      Array.from({ length: 60 }, (_, i) => save(fixture, `a${i}`).finally(() => left--)),
    );
    while (left > 0) await fixture.clock.advance(50);
    const codes = (await all).map(({ status }) => status);
    expect(codes.filter(status => status === 200).length).toBeLessThanOrEqual(50);
    const { body } = await fixture.call('GET', `${base}?limit=100`);
    expect(body.data.length).toBe(codes.filter(status => status === 200).length + 1);
  });
});

describe('a conversation', () => {
  it('is answered by the published version from the next turn on', async () => {
    const { fixture, stub } = await openAgent([says('Yes.')]);
    await save(fixture, 'support', { prompt: 'One' });
    await publish(fixture, 'support');
    await begin(fixture, { conversation_id: 'c', agent: 'support' });
    await say(fixture, 'c', 'What now?');
    await save(fixture, 'support', { prompt: 'Two' });
    await say(fixture, 'c', 'And now?');
    expect((await publish(fixture, 'support')).status).toBe(200);
    expect((await say(fixture, 'c', 'And then?')).body).toMatchObject({ agent: 'support', agent_version: 2 });
    expect(stub.asked.map(systemOf)).toEqual(['One', 'One', 'Two']);
  });

  it('stays with a version, or with the draft, if the host wants that', async () => {
    const { fixture, stub } = await openAgent([says('Yes.')]);
    await save(fixture, 'support', { prompt: 'One' });
    await publish(fixture, 'support');
    await save(fixture, 'support', { prompt: 'Two' });
    await begin(fixture, { conversation_id: 'first', agent: 'support', agent_version: 1 });
    const tried = await begin(fixture, {
      conversation_id: 'draft',
      agent: 'support',
      agent_version: 'draft',
    });
    expect(tried.body).toMatchObject({ agent: 'support', agent_version: 'draft' });
    await publish(fixture, 'support');
    await save(fixture, 'support', { prompt: 'Three' });
    await say(fixture, 'first', 'What now?');
    expect((await say(fixture, 'draft', 'What now?')).body.agent_version).toBe('draft');
    expect(stub.asked.map(systemOf)).toEqual(['One', 'Three']);
    const missing = await begin(fixture, { agent: 'support', agent_version: 7 });
    expect([missing.status, missing.body.code]).toEqual([404, 'agents.version_not_found']);
  });

  it('has the variables that its host has set, once replaced and no further', async () => {
    const { fixture, stub } = await openAgent([says('Yes.')]);
    await save(fixture, 'support', {
      prompt: 'You are {{agent}} of {{tenant}}, {{ tone }} to {{user_id}} about {{topic}} on {{date}}.',
      variables: { tone: 'kind', topic: 'parcels' },
      languages: ['de', 'en'],
    });
    await publish(fixture, 'support');
    await begin(fixture, {
      conversation_id: 'c',
      user_id: 'ann',
      agent: 'support',
      variables: { topic: '{{tone}}', date: 'never', more: 'x' },
    });
    await say(fixture, 'c', 'What now?');
    const date = new Date(fixture.clock.now()).toISOString().slice(0, 10);
    expect(systemOf(stub.asked[0])).toContain(
      `You are support of acme, kind to ann about {{tone}} on ${date}.`,
    );
    expect(systemOf(stub.asked[0])).toContain('one of de, en, otherwise in de');
  });

  it('belongs to an agent that its user may begin it with', async () => {
    const fixture = await open();
    await save(fixture, 'internal', {});
    await publish(fixture, 'internal');
    await save(fixture, 'open', { is_open_to_users: true });
    const unpublished = await begin(fixture, { agent: 'open' });
    expect([unpublished.status, unpublished.body.code]).toEqual([409, 'agents.agent_not_published']);
    await publish(fixture, 'open');
    const codeOf = async (send: object) => (await begin(fixture, send, 'acme~ann')).body.code;
    expect(await codeOf({ agent: 'internal' })).toBe('agents.agent_not_found');
    expect(await codeOf({ agent: 'nobody' })).toBe('agents.agent_not_found');
    expect(await codeOf({ agent: 'open', agent_version: 1 })).toBe('agents.agent_refused');
    expect(await codeOf({ agent: 'open', variables: {} })).toBe('agents.agent_refused');
    expect((await begin(fixture, { agent: 'open' }, 'acme~ann')).body.agent).toBe('open');
  });

  it('begins with the agent that the tenant has chosen, on every channel, and with a message', async () => {
    const fixture = await open();
    await save(fixture, 'support', { greeting: 'This is support.' });
    await publish(fixture, 'support');
    fixture.tenants.get('acme')!.settings = { default_agent: 'support' };
    expect((await say(fixture, 'a', 'Hello')).body.agent).toBe('support');
    expect((await begin(fixture, {}, 'acme~ann')).body.agent).toBe('support');
    fixture.tenants.get('acme')!.settings = { default_agent: 'removed' };
    expect((await say(fixture, 'b', 'Hello')).body.agent).toBe('default');
    fixture.tenants.get('acme')!.settings = {};
    const named = await fixture.call('POST', '/v1/tenants/acme/conversations/d/messages', {
      send: { content: 'Hello', agent: 'support' },
    });
    expect(named.body).toMatchObject({ agent: 'support', reply: { content: 'This is support.' } });
  });
});
