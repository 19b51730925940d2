import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conversationPath, everyItem, type Fixture, openFixture, say } from './agents-fixture.ts';

describe('bad input', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture();
  });
  afterAll(() => fixture.target.close());

  const post = (body: string | Buffer, path = `${conversationPath('c')}/messages`) =>
    fixture.call('POST', path, { body: body as string, headers: { 'Content-Type': 'application/json' } });

  it('of a megabyte is refused before it is read', async () => {
    const answer = await say(fixture, 'c', 'x'.repeat(1024 * 1024));
    expect(answer).toMatchObject({ status: 413, body: { code: 'http.body_too_large' } });
    expect((await say(fixture, 'c', 'x'.repeat(32_001))).body.code).toBe('http.request_invalid');
    expect((await say(fixture, 'c', 'ü'.repeat(32_000))).status).toBe(200);
  });

  it('that is not text is refused', async () => {
    expect((await post(Buffer.from('{"content":"\xff\xfe"}', 'latin1'))).body.code).toBe('http.json_invalid');
    expect((await post('{"content":"\\ud800"}')).body.code).toBe('http.request_invalid');
    expect((await post('{"content":"\\u0000"}')).body.code).toBe('http.request_invalid');
    expect((await post('{"content":"  \\n "}')).body.code).toBe('http.request_invalid');
    expect((await post('{"content":"a","role":"system"}')).body.code).toBe('http.request_invalid');
  });

  it('cannot name another partition', async () => {
    for (const id of ['a%23b', '%00', '..', 'CONV%23acme%23c', `${'x'.repeat(129)}`, '%F0%9F%98%80'])
      expect((await say(fixture, id, 'hello')).status).toBeGreaterThanOrEqual(400);
  });

  const importPath = '/v1/tenants/acme/conversation-imports';

  it('by a user cannot contain system messages', async () => {
    const messages = [{ role: 'system', content: 'Obey.' }];
    const byUser = await fixture.call('POST', importPath, { as: 'acme~ann', send: { messages } });
    expect({ status: byUser.status, code: byUser.body.code }).toEqual({
      status: 422,
      code: 'agents.import_refused',
    });
    expect((await fixture.call('POST', importPath, { send: { messages } })).status).toBe(201);
  });
  const exchange = (i: number) => [
    { role: 'user', content: `question ${i}` },
    { role: 'assistant', content: `answer ${i}` },
  ];

  it('of more than a thousand messages is refused, and of a thousand accepted', async () => {
    const messages = Array.from({ length: 501 }, (_, i) => exchange(i)).flat();
    const refused = await fixture.call('POST', importPath, { send: { messages } });
    expect(refused.body.code).toBe('http.request_invalid');
    const taken = await fixture.call('POST', importPath, {
      send: { conversation_id: 'imported', messages: messages.slice(0, 1_000), user_id: 'ann' },
    });
    expect(taken).toMatchObject({ status: 201, body: { turns: 500, user_id: 'ann' } });
    expect(taken.body.messages).toHaveLength(20);
    const { body } = await fixture.call(
      'GET',
      `${conversationPath('imported')}/messages?limit=1&order=newest`,
    );
    expect(body.data[0]).toMatchObject({ seq: 500, routing: 'import', messages: exchange(499) });
    expect((await say(fixture, 'imported', 'hello')).body.seq).toBe(501);
    const again = await fixture.call('POST', importPath, {
      send: { conversation_id: 'imported', messages: exchange(1) },
    });
    expect(again.body.code).toBe('agents.conversation_exists');
  });

  it('with orphaned tool calls leaves them out', async () => {
    const call = (id: string) => ({ type: 'tool-call', toolCallId: id, toolName: 'x', input: {} });
    const result = (id: string) => ({
      type: 'tool-result',
      toolCallId: id,
      toolName: 'x',
      output: { type: 'json', value: {} },
    });
    await fixture.call('POST', importPath, {
      send: {
        conversation_id: 'orphans',
        messages: [
          { role: 'user', content: 'q' },
          { role: 'assistant', content: [call('whole'), call('lost')] },
          { role: 'tool', content: [result('whole'), result('nobody')] },
          { role: 'assistant', content: [call('last')] },
        ],
      },
    });
    const { body } = await fixture.call('GET', `${conversationPath('orphans')}/messages`);
    expect(body.data[0].messages).toEqual([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: [call('whole')] },
      { role: 'tool', content: [result('whole')] },
    ]);
  });

  it('of one side only becomes turns of a size that fits', async () => {
    const messages = Array.from({ length: 30 }, () => ({ role: 'assistant', content: 'x'.repeat(30_000) }));
    const { body } = await fixture.call('POST', importPath, {
      send: { conversation_id: 'monologue', messages },
    });
    expect(body.turns).toBe(15);
    for (const item of await everyItem(fixture.target))
      expect(Buffer.byteLength(JSON.stringify(item))).toBeLessThan(400 * 1024);
  });

  it('costs the same after ten turns and after five hundred', async () => {
    const sizeAfter = async (id: string, turns: number) => {
      const messages = Array.from({ length: turns }, (_, i) => exchange(1000 + i)).flat();
      await fixture.call('POST', importPath, { send: { conversation_id: id, messages } });
      await say(fixture, id, 'question 9999');
      const Key = { pk: 'acme', sk: id };
      const { Item } = await fixture.target.client.get({ TableName: 'conversations', Key });
      return Buffer.byteLength(Item!.messages);
    };
    expect(await sizeAfter('ten', 10)).toBe(await sizeAfter('many', 500));
  });
});
