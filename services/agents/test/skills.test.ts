import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOutbound, type Outbound } from '@stak/outbound';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineSkill, type SkillOwner } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { type Fixture, openFixture, openProcess, say, settle, until } from './agents-fixture.ts';

describe('built-in skills', () => {
  const owners: SkillOwner[] = [];
  let fixture: Fixture;
  beforeEach(async () => {
    owners.length = 0;
    fixture = await openFixture(undefined, {
      ports: {
        taskStatistics: async whose => {
          owners.push(whose);
          return { done: 6, left: 4, blocked: 1, overdue: 2 };
        },
        webhookHealth: async account => {
          expect(account).toBe('usr_acme');
          return { sources: 2, delivered: 90, failed: 3, failing: ['billing'] };
        },
      },
    });
    fixture.tenants.get('acme')!.settings = {
      enabled_skills: ['sprint_status', 'webhook_health', 'usage', 'search_history', 'remember', 'forget'],
    };
  });
  afterEach(() => fixture.target.close());

  const ask = async (content: string, id = 'c') => (await say(fixture, id, content, { user_id: 'ann' })).body;

  it('are listed if their data exists, and used if they are enabled', async () => {
    const { body } = await fixture.call('GET', '/v1/tenants/acme/skills');
    expect(body.data.map((one: { name: string }) => one.name)).not.toContain('inbox_summary');
    expect(body.data.find((one: { name: string }) => one.name === 'sprint_status')).toMatchObject({
      is_enabled: true,
      is_custom: false,
    });
    fixture.tenants.get('acme')!.settings = { enabled_skills: [] };
    expect((await ask('sprint status')).rule).toBe('no_model');
  });

  it('answer from real data', async () => {
    expect(await ask("What's the sprint status?")).toMatchObject({
      rule: 'skill',
      skills: ['sprint_status'],
      reply: { content: '6 of 10 tasks done, 4 left: 1 blocked, 2 overdue. Risk: high.' },
    });
    expect(owners).toEqual([{ tenant_id: 'acme', account_id: 'usr_acme', user_id: 'ann' }]);
    expect((await ask('usage')).reply.content).toBe(
      'You, today (1 Jan 2026, UTC): 2 messages, 0 tokens, $0.',
    );
  });

  it("answer a conversation without a user from the host's own data", async () => {
    const { body } = await say(fixture, 'c', "what's the sprint status?");
    expect(body.reply.content).toMatch(/^6 of 10 tasks done/);
    expect(owners).toEqual([{ tenant_id: 'acme', account_id: 'usr_acme', user_id: undefined }]);
  });

  it('report webhooks to the host, and to no user', async () => {
    const { body } = await say(fixture, 'host', 'webhook health');
    expect(body.reply.content).toBe('2 sources, 90 deliveries made, 3 failed. Failing: billing.');
    expect((await ask('webhook health')).reply.content).toBe(
      'The skill webhook_health failed: webhooks belong to the account; its users cannot see them',
    );
  });

  it('find earlier messages, of this user only', async () => {
    await ask('My dog is called Rex', 'old');
    await say(fixture, 'other', 'My cat is called Rex', { user_id: 'bob' });
    const { reply } = await ask('search my history for rex');
    expect(reply.content).toContain('My dog is called Rex');
    expect(reply.content).not.toContain('cat');
  });

  it('remember and forget, and the user has the last word', async () => {
    expect((await ask('Remember that I like short answers')).reply.content).toBe(
      'I will remember: I like short answers',
    );
    await ask('remember that my team is blue');
    const path = '/v1/tenants/acme/users/me/memory';
    const as = 'acme~ann';
    const listed = await fixture.call('GET', path, { as });
    expect(listed.body.data[0]).toMatchObject({ session_id: 'c', key_facts: [{ source: 'user' }, {}] });
    const [{ fact_id }] = listed.body.data[0].key_facts;
    const edited = await fixture.call('PATCH', `${path}/c`, {
      as,
      send: { summary: 'Ann', key_facts: [{ fact_id, fact: 'I like long answers' }] },
    });
    expect(edited.body).toMatchObject({
      summary: 'Ann',
      key_facts: [{ fact_id, fact: 'I like long answers' }],
    });
    expect((await ask('forget about long answers')).reply.content).toBe('Forgotten: I like long answers');
    await fixture.call('DELETE', `${path}/c`, { as });
    expect((await fixture.call('GET', path, { as })).body.data).toEqual([]);

    await ask('remember that I am here');
    const off = await fixture.call('PATCH', `${path}-settings`, { as, send: { is_declined: true } });
    expect(off.body).toMatchObject({ is_declined: true, memory_summary: null });
    expect((await fixture.call('GET', path, { as })).body.data).toEqual([]);
    expect((await ask('remember that I am here')).reply.content).toMatch(/opted out of memory/);
    await fixture.call('PATCH', `${path}-settings`, { as, send: { is_declined: false } });
    expect((await ask('remember that I am here')).reply.content).toBe('I will remember: I am here');
    expect((await fixture.call('GET', path.replace('me', 'ann'), { as: 'acme~bob' })).status).toBe(404);
  });

  it('cannot be called for another tenant', () => {
    const parameters = z.strictObject({ tenant_id: z.string() });
    const skill = {
      name: 'x',
      description: 'x',
      triggers: [],
      parameters,
      run: async () => ({ data: 1, text: '' }),
    };
    expect(() => defineSkill(skill)).toThrow('gets its tenant from the call');
  });

  it('truncate long results', async () => {
    const long = defineSkill({
      name: 'long',
      description: 'Talks.',
      triggers: ['talk'],
      parameters: z.strictObject({}),
      run: async () => ({ data: {}, text: 'é'.repeat(100_000) }),
    });
    const other = await openFixture(undefined, { skills: [long] });
    other.tenants.get('acme')!.settings = { enabled_skills: ['long'] };
    const { body } = await say(other, 'c', 'talk');
    expect(Buffer.byteLength(body.reply.content)).toBe(16 * 1024);
    await other.target.close();
  });
});

describe('custom skills', () => {
  const calls: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
  let answer = { status: 200, body: '{"price":42}' };
  let onCall: (request: IncomingMessage) => unknown;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    calls.push({ path: request.url!, headers: request.headers, body });
    onCall(request);
    if (answer.status === 0) return; // none, for as long as somebody waits
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(answer.body);
  });
  let outbound: Outbound;
  let fixture: Fixture;
  let url: string;
  beforeEach(async () => {
    calls.length = 0;
    answer = { status: 200, body: '{"price":42}' };
    onCall = () => {};
    outbound = createOutbound({ allow: ['127.0.0.0/8'] });
    fixture = await openFixture(undefined, { outbound });
    fixture.tenants.get('acme')!.settings = { custom_skills: ['price'] };
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/price`;
  });
  afterEach(async () => {
    await new Promise(resolve => server.close(resolve));
    await fixture.target.close();
  });

  const path = '/v1/tenants/acme/custom-skills/price';
  const draft = () => ({ description: 'The price.', triggers: ['what is the price'], url });

  it.each([
    ['{"text":"It is 42 euros.","price":42}', 'It is 42 euros.'],
    ['"It is 42 euros."', 'It is 42 euros.'],
    ['It is 42 euros.', 'It is 42 euros.'],
    ['{"text":{"price":42}}', '{\n  "text": {\n    "price": 42\n  }\n}'],
    ['null', 'null'],
  ])('that return %s answer %j', async (body, said) => {
    answer = { status: 200, body };
    await fixture.call('PUT', path, { send: draft() });
    expect((await say(fixture, 'c', 'What is the price?')).body.reply.content).toBe(said);
  });

  it('return deeply nested results without indentation, which would be a thousand times as long', async () => {
    const deep = `${'['.repeat(2_000)}${'1,'.repeat(10_000)}1${']'.repeat(2_000)}`;
    answer = { status: 200, body: deep };
    await fixture.call('PUT', path, { send: draft() });
    expect((await say(fixture, 'c', 'What is the price?')).body.reply.content).toBe(
      deep.slice(0, limits.skillOutputBytes),
    );
  });

  it('are called with a signature that their owner can verify', async () => {
    const { body } = await fixture.call('PUT', path, { send: draft() });
    expect(body.secret).toMatch(/^whsec_/);
    expect((await fixture.call('GET', path)).body).not.toHaveProperty('secret');
    const { body: reply } = await say(fixture, 'c', 'What is the price?', { user_id: 'ann' });
    expect(reply).toMatchObject({
      rule: 'skill',
      skills: ['price'],
      reply: { content: '{\n  "price": 42\n}' },
    });
    const { headers, body: sent } = calls[0]!;
    expect(JSON.parse(sent)).toEqual({ skill: 'price', arguments: {}, conversation_id: 'c', user_id: 'ann' });
    const key = Buffer.from(body.secret.slice('whsec_'.length), 'base64');
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${sent}`;
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
    );
  });

  it('are called again with the same id by the process that takes over', async () => {
    await fixture.call('PUT', path, { send: draft() });
    answer = { status: 0, body: '' };
    const lost = say(fixture, 'c', 'What is the price?', { key: 'k' }); // its process is as good as dead
    await until(() => calls.length === 1);
    answer = { status: 200, body: '{"price":42}' };
    const heir = openProcess(fixture.target, { clock: fixture.clock });
    heir.tenants.get('acme')!.settings = { custom_skills: ['price'] };
    fixture.clock.set(fixture.clock.now() + 31_000); // the lease has ended, and nobody renewed it
    await settle(heir);
    expect(calls).toHaveLength(2);
    expect(calls[1]!.headers['webhook-id']).toBe(calls[0]!.headers['webhook-id']);
    const { body } = await say(heir, 'c', 'What is the price?', { key: 'k' });
    expect(body).toMatchObject({ seq: 1, skills: ['price'], reply: { content: '{\n  "price": 42\n}' } });
    await fixture.clock.advance(31_000);
    await lost;
  });

  it('can be tried without a conversation, as an agent would call them', async () => {
    await fixture.call('PUT', path, { send: draft() });
    const attempt = async () =>
      (await fixture.call('POST', `${path}/test`, { send: { arguments: { order: '7' } } })).body;
    expect(await attempt()).toMatchObject({ ok: true, output: { price: 42 }, reason: null });
    expect(JSON.parse(calls[0]!.body)).toMatchObject({ arguments: { order: '7' }, conversation_id: 'test' });
    expect(calls[0]!.headers['webhook-signature']).toMatch(/^v1,/);
    answer = { status: 500, body: 'secret stack trace' };
    expect(await attempt()).toMatchObject({ ok: false, output: null, reason: 'it answered 500' });
    const missing = path.replace('price', 'other');
    expect((await fixture.call('POST', `${missing}/test`, { send: { arguments: {} } })).status).toBe(404);
  });

  it.each([
    ['the connection breaks', ({ socket }: IncomingMessage) => socket.destroy(), 'reset'],
    ['this server stops', () => outbound.close(), 'closed'],
  ])('may have been done if %s during a call', async (_, interrupt, reason) => {
    await fixture.call('PUT', path, { send: draft() });
    answer = { status: 0, body: '' };
    onCall = interrupt;
    const attempt = async () =>
      (await fixture.call('POST', `${path}/test`, { send: { arguments: {} } })).body;
    expect((await attempt()).reason).toBe(
      `it did not answer (${reason}), and it is not known whether it was done`,
    );
    await new Promise(resolve => server.close(resolve));
    expect((await attempt()).reason).toMatch(/^it could not be reached \((connect|closed)\)$/);
  });

  it('can be tried before they are saved, without storing anything', async () => {
    const { secret } = (await fixture.call('PUT', path, { send: draft() })).body;
    const before = (await fixture.call('GET', path)).body;
    const attempt = (typed: object, input: object = {}) =>
      fixture.call('POST', `${path}/test`, {
        send: { arguments: input, draft: { ...draft(), ...typed } },
      });
    const parameters = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
    expect((await attempt({ parameters })).body).toMatchObject({
      ok: false,
      reason: expect.stringContaining('invalid arguments'),
    });
    expect(calls).toEqual([]);
    expect((await attempt({ parameters, url: `${url}/typed` }, { day: 'Monday' })).body.ok).toBe(true);
    const { path: called, headers, body: sent } = calls[0]!;
    expect(called).toBe('/price/typed');
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${sent}`;
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signature = createHmac('sha256', key).update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);
    // What could not be stored is not tried either.
    const refused = await attempt({ url: 'http://169.254.169.254/' });
    expect([refused.status, refused.body.code]).toEqual([422, 'agents.skill_refused']);
    expect((await attempt({ description: '' })).status).toBe(400);
    expect(calls).toHaveLength(1);
    expect((await fixture.call('GET', path)).body).toEqual(before);
  });

  it('have the same limits when tried before they are saved', async () => {
    const attempt = (name: string, typed: object = {}) =>
      fixture.call('POST', `/v1/tenants/acme/custom-skills/${name}/test`, {
        send: { arguments: { order: '7' }, draft: { ...draft(), ...typed } },
      });
    expect((await attempt('stock')).body).toMatchObject({ ok: true, output: { price: 42 } });
    expect(JSON.parse(calls[0]!.body)).toMatchObject({ skill: 'stock', arguments: { order: '7' } });
    expect(calls[0]!.headers['webhook-signature']).toMatch(/^v1,/);
    expect((await fixture.call('GET', '/v1/tenants/acme/custom-skills/stock')).status).toBe(404);
    expect((await attempt('usage')).body.code).toBe('agents.skill_name_taken');
    expect((await attempt('stock', { url: 'http://169.254.169.254/' })).body.code).toBe(
      'agents.skill_refused',
    );
    expect(calls).toHaveLength(1);
  });

  it('are not changed by registering another one under the same name', async () => {
    const register = (description: string) =>
      fixture.call('PUT', '/v1/tenants/acme/custom-skills/hours', {
        send: { description, url },
        headers: { 'If-None-Match': '*' },
      });
    expect((await register('first')).status).toBe(200);
    const { status, body } = await register('second');
    expect({ status, code: body.code }).toEqual({ status: 412, code: 'agents.skill_exists' });
    const kept = await fixture.call('GET', '/v1/tenants/acme/custom-skills/hours');
    expect(kept.body.description).toBe('first');
  });

  it('are limited in number, however many are registered at once', async () => {
    const register = (name: string) =>
      fixture.call('PUT', `/v1/tenants/acme/custom-skills/${name}`, { send: { description: 'x', url } });
    for (let i = 2; i < limits.customSkills; i++) await register(`skill_${i}`);
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(register));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(answers.filter(({ body }) => body.code === 'agents.too_many_skills')).toHaveLength(3);
  });

  it('with required parameters are for a model, not for a rule', async () => {
    const parameters = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
    const send = { description: 'x', triggers: ['opening hours'], url, parameters };
    await fixture.call('PUT', '/v1/tenants/acme/custom-skills/price', { send });
    expect((await say(fixture, 'c', 'opening hours')).body.rule).toBe('no_model');
  });

  it('that fail are reported as failed', async () => {
    await fixture.call('PUT', path, { send: draft() });
    answer = { status: 500, body: 'secret stack trace' };
    const { body } = await say(fixture, 'c', 'what is the price');
    expect(body.reply.content).toBe('The skill price failed: it answered 500');
  });

  it('cannot be at internal addresses, and have bounded parameters', async () => {
    const refuse = async (change: object) =>
      (await fixture.call('PUT', path, { send: { ...draft(), ...change } })).body.code;
    expect(await refuse({ url: 'http://169.254.169.254/latest' })).toBe('agents.skill_refused');
    expect(await refuse({ url: 'ftp://example.com' })).toBe('agents.skill_refused');
    expect(await refuse({ parameters: { type: 'string' } })).toBe('agents.skill_refused');
    expect(await refuse({ parameters: { type: 'object', properties: { a: { pattern: '(a+)+$' } } } })).toBe(
      'agents.skill_refused',
    );
    expect(await refuse({ parameters: { type: 'object', $ref: '#' } })).toBe('agents.skill_refused');
    let deep: object = { type: 'object' };
    for (let i = 0; i < 12; i++) deep = { type: 'object', properties: { a: deep } };
    expect(await refuse({ parameters: deep })).toBe('agents.skill_refused');
    const usage = await fixture.call('PUT', path.replace('price', 'usage'), { send: draft() });
    expect(usage.body.code).toBe('agents.skill_name_taken');
  });

  it('are saved without compiling their schema', async () => {
    const branch = { oneOf: Array(6).fill({ type: 'object', properties: { a: { minLength: 1 } } }) };
    const parameters = { type: 'object', allOf: Array(20).fill(branch) };
    const before = process.cpuUsage();
    for (let i = 0; i < 10; i++) {
      const send = { ...draft(), parameters: { ...parameters, title: String(i) } };
      expect((await fixture.call('PUT', path, { send })).status).toBe(200);
    }
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000); // microseconds: several seconds to compile them
  });

  it('belong to their tenant', async () => {
    await fixture.call('PUT', path, { send: draft() });
    expect((await fixture.call('GET', path.replace('acme', 'globex'), { as: 'globex' })).status).toBe(404);
    fixture.tenants.get('globex')!.settings = { custom_skills: ['price'] };
    const send = { content: 'what is the price' };
    const { body } = await fixture.call('POST', '/v1/tenants/globex/conversations/c/messages', {
      as: 'globex',
      send,
    });
    expect(body.rule).toBe('no_model');
    await fixture.call('DELETE', path);
    expect((await say(fixture, 'c', 'what is the price')).body.rule).toBe('no_model');
  });
});
