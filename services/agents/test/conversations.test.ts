import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  conversationPath,
  everyItem,
  type Fixture,
  isKept,
  openFixture,
  say,
  settle,
  targets,
} from './agents-fixture.ts';

describe.each(Object.entries(targets))('conversations, %s', (_, make) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture(make);
  });
  afterAll(() => fixture.target.close());

  it('answers by a rule, reports it, and stores the turn', async () => {
    const answer = await say(fixture, 'first', 'Hello!', { user_id: 'ann' });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      conversation_id: 'first',
      status: 'answered',
      seq: 1,
      routing: 'rule',
      rule: 'greeting',
      model: null,
      cost_usd: 0,
      merged: 1,
    });
    expect(answer.body.reply.content).toMatch(/^Hello\./);

    const read = await fixture.call('GET', conversationPath('first'));
    expect(read.body).toMatchObject({ conversation_id: 'first', user_id: 'ann', turns: 1, title: 'Hello!' });
    expect(read.body.messages).toEqual([
      { role: 'user', content: 'Hello!' },
      { role: 'assistant', content: answer.body.reply.content },
    ]);
  });

  it('reports a missing model instead of inventing an answer', async () => {
    const answer = await say(fixture, 'honest', 'Who won the election of 1848?');
    expect(answer.body).toMatchObject({ routing: 'rule', rule: 'no_model', model: null });
    expect(answer.body.reply.content).toMatch(/^No model is configured/);
  });

  it('stores the documented item in its documented form', async () => {
    await say(fixture, 'documented', 'hi');
    const { Item } = await fixture.target.client.get({
      TableName: 'conversations',
      Key: { pk: 'acme', sk: 'documented' },
    });
    const messages = JSON.parse(Item!.messages);
    expect(messages.map((one: object) => Object.keys(one))).toEqual([
      ['role', 'content'],
      ['role', 'content'],
    ]);
    expect(Item!.updated_at).toBe(new Date(fixture.clock.now()).toISOString());
    expect(Item!.ttl).toBe(Math.floor(fixture.clock.now() / 1000) + 30 * 24 * 60 * 60);
  });

  it('lists by user and by tenant, newest first', async () => {
    for (const id of ['l1', 'l2', 'l3']) {
      await say(fixture, id, 'hi', { user_id: id === 'l2' ? 'bob' : 'lea' });
      await fixture.clock.advance(1000);
    }
    const ids = async (query: string, as = 'acme') => {
      const { body } = await fixture.call('GET', `/v1/tenants/acme/conversations${query}`, { as });
      return body.data.map((one: { conversation_id: string }) => one.conversation_id);
    };
    expect(await ids('?user_id=lea')).toEqual(['l3', 'l1']);
    expect(
      (await fixture.call('GET', '/v1/tenants/acme/conversations?user_id=lea&limit=1')).body.data[0],
    ).toEqual({
      conversation_id: 'l3',
      title: 'hi',
      user_id: 'lea',
      channel: 'dashboard',
      turns: 1,
      created_at: '2026-01-01T00:00:02.000Z',
      updated_at: '2026-01-01T00:00:02.000Z',
    });
    expect(await ids('', 'acme~bob')).toEqual(['l2']);
    expect((await ids('')).slice(0, 3)).toEqual(['l3', 'l2', 'l1']);
    const first = await fixture.call('GET', '/v1/tenants/acme/conversations?limit=1');
    const next = `/v1/tenants/acme/conversations?limit=1&cursor=${first.body.next_cursor}`;
    expect((await fixture.call('GET', next)).body.data[0].conversation_id).toBe('l2');
    expect((await fixture.call('GET', next, { as: 'acme~lea' })).body.code).toBe('http.cursor_refused');
  });

  it('renames, unless another rename came first', async () => {
    await say(fixture, 'named', 'hi');
    const { etag } = await fixture.call('GET', conversationPath('named'));
    const rename = (title: string) =>
      fixture.call('PATCH', conversationPath('named'), { send: { title }, ifMatch: etag });
    expect((await rename('Weekly')).body.title).toBe('Weekly');
    expect((await rename('Other')).status).toBe(412);
    await say(fixture, 'named', 'hello');
    expect((await fixture.call('GET', conversationPath('named'))).body).toMatchObject({
      title: 'Weekly',
      turns: 2,
    });
  });

  it('pages through the turns, from either end', async () => {
    for (let i = 0; i < 5; i++) await say(fixture, 'long', `question ${i}`);
    const path = `${conversationPath('long')}/messages`;
    const first = await fixture.call('GET', `${path}?limit=3`);
    expect(first.body.data.map((one: { seq: number }) => one.seq)).toEqual([1, 2, 3]);
    const second = await fixture.call('GET', `${path}?limit=3&cursor=${first.body.next_cursor}`);
    expect(second.body.data.map((one: { seq: number }) => one.seq)).toEqual([4, 5]);
    expect(second.body.next_cursor).toBeNull();
    const newest = await fixture.call('GET', `${path}?limit=1&order=newest`);
    expect(newest.body.data[0].messages[0]).toEqual({ role: 'user', content: 'question 4' });
  });

  it('exports every turn, and marks the end', async () => {
    await say(fixture, 'exported', 'hi');
    await say(fixture, 'exported', 'hello');
    const { body, headers } = await fixture.call('GET', `${conversationPath('exported')}/export`);
    const lines = body
      .trim()
      .split('\n')
      .map(JSON.parse as (line: string) => { kind: string; item: unknown });
    expect(lines.map((line: { kind: string }) => line.kind)).toEqual(['conversation', 'turn', 'turn', 'end']);
    expect(headers.get('content-disposition')).toBe('attachment; filename="exported.ndjson"');
  });

  it('clears at once, and removes the log afterwards', async () => {
    await say(fixture, 'cleared', 'my number is 12345');
    expect((await fixture.call('DELETE', `${conversationPath('cleared')}/messages`)).status).toBe(204);
    expect((await fixture.call('GET', conversationPath('cleared'))).body).toMatchObject({
      turns: 0,
      messages: [],
    });
    await say(fixture, 'cleared', 'hello');
    const turns = await fixture.call('GET', `${conversationPath('cleared')}/messages`);
    expect(turns.body.data.map((one: { seq: number }) => one.seq)).toEqual([1]);
    await settle(fixture);
    expect(await isKept(fixture, '12345')).toBe(false);
  });

  it('deletes everything, and starts again under the same id', async () => {
    await say(fixture, 'gone', 'my number is 98765', { user_id: 'ann' });
    expect((await fixture.call('DELETE', conversationPath('gone'))).status).toBe(204);
    expect((await fixture.call('GET', conversationPath('gone'))).status).toBe(404);
    expect((await say(fixture, 'gone', 'hello', { user_id: 'bob' })).body.seq).toBe(1);
    expect((await fixture.call('GET', conversationPath('gone'))).body.user_id).toBe('bob');
    await settle(fixture);
    expect(await isKept(fixture, '98765')).toBe(false);
    await fixture.call('DELETE', conversationPath('gone'));
    await settle(fixture);
    expect(await isKept(fixture, 'gone')).toBe(false);
  });

  it('cannot be read once it has expired, and is then removed', async () => {
    await say(fixture, 'expired', 'the code is 55555');
    await fixture.clock.advance(31 * 24 * 60 * 60 * 1000);
    expect((await fixture.call('GET', conversationPath('expired'))).status).toBe(404);
    expect((await say(fixture, 'expired', 'hello')).body.seq).toBe(1);
    expect((await fixture.call('GET', conversationPath('expired'))).body.turns).toBe(1);
    await settle(fixture);
    expect(await isKept(fixture, '55555')).toBe(false);
  });

  it('stores feedback with the turn until it is withdrawn', async () => {
    await say(fixture, 'rated', 'Hello!', { user_id: 'ann' });
    const path = `${conversationPath('rated')}/turns/1/feedback`;
    const send = { rating: 'bad', comment: 'Too long.' };
    const first = await fixture.call('PUT', path, { as: 'acme~ann', send });
    const rated_at = new Date(fixture.clock.now()).toISOString();
    expect(first.body.feedback).toEqual({ rating: 'bad', comment: 'Too long.', rated_at });
    await fixture.call('PUT', path, { as: 'acme~ann', send: { rating: 'good' } });
    const turns = async () => (await fixture.call('GET', `${conversationPath('rated')}/messages`)).body.data;
    expect((await turns())[0].feedback).toEqual({ rating: 'good', comment: null, rated_at });
    await fixture.call('PUT', path, { as: 'acme~ann', send: { rating: null } });
    expect((await turns())[0].feedback).toBeNull();
    const missing = path.replace('/1/', '/2/');
    expect((await fixture.call('PUT', missing, { send: { rating: 'good' } })).status).toBe(404);
    expect(await turns(), 'no turn is made by it').toHaveLength(1);
    expect((await fixture.call('PUT', path, { send: { rating: 'great' } })).status).toBe(400);
    const rate = (as: string) => fixture.call('PUT', path, { as, send: { rating: 'good' } });
    expect((await rate('acme~bob')).status, 'users rate answers of their own conversations').toBe(404);
    expect((await rate('acme~ann')).body.feedback.rating).toBe('good');
  });

  it('keeps the user’s and the host’s feedback apart', async () => {
    await say(fixture, 'judged', 'Hello!', { user_id: 'ann' });
    const path = conversationPath('judged');
    const rate = (rating: string | null, as?: string) =>
      fixture.call('PUT', `${path}/turns/1/feedback`, { as, send: { rating } });
    const read = async (as?: string) => {
      const { feedback, host_feedback } = (await fixture.call('GET', `${path}/messages`, { as })).body
        .data[0];
      return [feedback?.rating, host_feedback?.rating];
    };
    await rate('bad', 'acme~ann');
    await rate('good');
    expect(await read()).toEqual(['bad', 'good']);
    expect(await read('acme~ann'), 'what the host thinks is for the host').toEqual(['bad', undefined]);
    const lines = async (as?: string) => (await fixture.call('GET', `${path}/export`, { as })).body;
    expect(await lines()).toContain('"host_feedback":{"rating":"good"');
    expect(await lines('acme~ann')).toContain('"host_feedback":null');
    await rate(null, 'acme~ann');
    expect(await read()).toEqual([undefined, 'good']);
    await rate('good', 'acme~ann');
    await rate(null);
    expect(await read()).toEqual(['good', undefined]);
  });

  it('reads older feedback without an author; the host replaces it in its own conversation', async () => {
    await say(fixture, 'own', 'Hello!');
    const isTurn = ({ pk, sk }: Record<string, unknown>) =>
      pk === 'CONV#acme#own' && String(sk).startsWith('TURN#');
    const stored = (await everyItem(fixture.target)).find(isTurn);
    const rated_at = new Date(fixture.clock.now()).toISOString();
    const Item = { ...stored, rating: 'bad', rated_at };
    await fixture.target.client.put({ TableName: 'conversations', Item });
    const path = conversationPath('own');
    const read = async () => {
      const { feedback, host_feedback } = (await fixture.call('GET', `${path}/messages`)).body.data[0];
      return [feedback?.rating, host_feedback?.rating];
    };
    expect(await read()).toEqual(['bad', undefined]);
    await fixture.call('PUT', `${path}/turns/1/feedback`, { send: { rating: 'good' } });
    expect(await read()).toEqual([undefined, 'good']);
  });
});
