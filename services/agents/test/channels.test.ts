import { generateKeyPair } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { advanceUntil, everyItem, type Fixture, openFixture, settle, until } from './agents-fixture.ts';
import { deliver, openProviders, signSlack, signWhatsApp, slackMessage } from './channel-stub.ts';

let fixture: Fixture;
let providers: Awaited<ReturnType<typeof openProviders>>;
beforeEach(async () => {
  providers = await openProviders();
  fixture = await openFixture(undefined, { addresses: providers.addresses });
  fixture.tenants.get('acme')!.settings = {
    enabled_channels: ['dashboard', 'slack', 'teams', 'telegram', 'whatsapp'],
    enabled_skills: ['usage'],
  };
});
afterEach(async () => {
  await providers.close();
  await fixture.target.close();
});

const connect = async (type: string, id: string, credentials: object, tenant = 'acme') => {
  fixture.claims.set(`${type}#${id}`, tenant);
  return fixture.call('PUT', `/v1/tenants/${tenant}/channels/${type}/${id}/credentials`, {
    as: tenant,
    send: credentials,
  });
};
const work = async () => {
  await fixture.clock.advance(1_000); // a burst is over
  await settle(fixture);
};

describe('Slack', () => {
  beforeEach(async () => {
    const { status } = await connect('slack', 'T1', { signing_secret: 'slack-secret', bot_token: 'xoxb-1' });
    expect(status).toBe(200);
    fixture.identities.set('acme#slack#U1', 'ann');
  });
  const send = (event: ReturnType<typeof slackMessage>) =>
    deliver(fixture, 'slack', 'T1', event, signSlack(fixture, event));

  it('is acknowledged at once, and the reply is sent through its API', async () => {
    const answer = await send(slackMessage('hello', '1.0'));
    expect(answer).toMatchObject({ status: 200, body: {} });
    expect(providers.sent).toEqual([]);
    await work();
    expect(providers.sent).toHaveLength(1);
    expect(providers.sent[0]).toMatchObject({
      path: '/slack/chat.postMessage',
      authorization: 'Bearer xoxb-1',
      body: { channel: 'D1', text: expect.stringMatching(/^Hello/) },
    });
    const { body } = await fixture.call('GET', '/v1/tenants/acme/conversations?user_id=ann');
    expect(body.data[0]).toMatchObject({ channel: 'slack', user_id: 'ann', turns: 1 });
  });

  const conversationOfAnn = async (): Promise<string> =>
    (await fixture.call('GET', '/v1/tenants/acme/conversations?user_id=ann')).body.data[0].conversation_id;

  it('is answered there, even if a request of the host produces the answer', async () => {
    await send(slackMessage('usage', '1.0'));
    const path = `/v1/tenants/acme/conversations/${await conversationOfAnn()}/messages`;
    const answer = await fixture.call('POST', path, { send: { content: 'usage' } });
    expect(answer).toMatchObject({ status: 200, body: { merged: 2 } });
    await work();
    expect(providers.sent).toHaveLength(1);
    expect(providers.sent[0]!.body).toMatchObject({ channel: 'D1', text: answer.body.reply.content });
  });

  it('gets every answer, even if one is still being sent when the host asks', async () => {
    await send(slackMessage('hello', '1.0'));
    await fixture.clock.advance(1_000);
    await fixture.agents.runDue(); // answered, and not yet sent
    await send(slackMessage('usage', '2.0'));
    const path = `/v1/tenants/acme/conversations/${await conversationOfAnn()}/messages`;
    const answering = fixture.call('POST', path, { send: { content: 'usage' } });
    await until(async () => {
      await settle(fixture);
      return providers.sent.length === 2;
    });
    expect((await answering).body).toMatchObject({ seq: 2, merged: 2 });
    expect(providers.sent.map(({ body }) => String(body.text).slice(0, 5))).toEqual(['Hello', 'You, ']);
  });

  it('drops duplicates, even after they were answered, and counts them once', async () => {
    const event = slackMessage('hello', '1.0');
    await Promise.all([send(event), send(event), send({ ...event, event_id: 'Ev-as-mention' })]);
    await work();
    await send(event);
    await work();
    expect(providers.sent).toHaveLength(1);
    expect((await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body.total.messages).toBe(1);
  });

  it('answers a burst as one turn', async () => {
    for (const [i, text] of ['so', 'what is the', 'usage'].entries()) {
      await send(slackMessage(text, `${i}.0`));
      await fixture.clock.advance(900);
      expect(await fixture.agents.runDue()).toEqual({ worked: 0 }); // there may be more to come
    }
    await work();
    expect(providers.sent).toHaveLength(1);
    expect((await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body.total.messages).toBe(3);
  });

  it('is served by the worker as soon as a burst is over', async () => {
    const stopping = new AbortController();
    const running = fixture.agents.workers[0]!.run(stopping.signal);
    await send(slackMessage('hello', '1.0'));
    await until(() => fixture.clock.sleepers() > 0);
    await fixture.clock.advance(999);
    expect(providers.sent).toEqual([]);
    await advanceUntil(fixture, () => providers.sent.length > 0);
    expect(providers.sent).toHaveLength(1);
    stopping.abort();
    await running;
  });

  it('does not interpret answers as commands, and keeps the text as written', async () => {
    fixture.tenants.get('acme')!.settings.enabled_skills = ['remember'];
    await send(slackMessage('remember that a &lt;!channel&gt; &amp;amp; is loud', '1.0'));
    await work();
    expect(providers.sent[0]!.body.text).toBe('I will remember: a &lt;!channel&gt; &amp;amp; is loud');
    const { body } = await fixture.call('GET', '/v1/tenants/acme/users/ann/memory');
    expect(body.data[0].key_facts[0].fact).toBe('a <!channel> &amp; is loud');
  });

  it('echoes the challenge, and only a signed one', async () => {
    const event = { type: 'url_verification', challenge: 'abc' };
    expect((await deliver(fixture, 'slack', 'T1', event, signSlack(fixture, event))).body).toEqual({
      challenge: 'abc',
    });
    expect((await deliver(fixture, 'slack', 'T1', event, {})).status).toBe(401);
  });

  it('is refused if it is forged, replayed late, or of another workspace', async () => {
    const event = slackMessage('hello', '1.0');
    const refused = async (headers: Record<string, string>, sent: unknown = event, id = 'T1') =>
      (await deliver(fixture, 'slack', id, sent, headers)).status;
    expect(await refused(signSlack(fixture, event, 'wrong'))).toBe(401);
    expect(await refused(signSlack(fixture, event, 'slack-secret', -301))).toBe(401);
    expect(await refused(signSlack(fixture, event, 'slack-secret', 301))).toBe(401);
    expect(await refused(signSlack(fixture, event), slackMessage('hello, all', '1.0'))).toBe(401);
    expect(await refused(signSlack(fixture, event, ''), event, 'T2')).toBe(401);
    const foreign = { ...event, team_id: 'T9' };
    expect(await refused(signSlack(fixture, foreign), foreign)).toBe(200);
    const bot = slackMessage('hello', '2.0', { bot_id: 'B1' });
    await send(bot);
    await work();
    expect(providers.sent).toEqual([]);
  });

  it('retries a refused reply, in order, and gives up in the end', async () => {
    providers.refusals.push(
      { status: 503, body: {} },
      { status: 429, body: {}, headers: { 'retry-after': '20' } },
    );
    await send(slackMessage('hello', '1.0'));
    await work();
    await send(slackMessage('thanks', '2.0'));
    await work();
    expect(providers.sent).toEqual([]);
    for (let i = 0; i < 8; i++) {
      await fixture.clock.advance(10_000);
      await settle(fixture);
    }
    expect(providers.sent.map(({ body }) => String(body.text).slice(0, 7))).toEqual(['Hello. ', 'You are']);
  });

  it('notifies an unknown sender once', async () => {
    for (const ts of ['1.0', '2.0']) {
      await send(slackMessage('hello', ts, { user: 'U9' }));
      await work();
    }
    expect(providers.sent.map(({ body }) => body.text)).toEqual([
      expect.stringMatching(/^I do not know you yet/),
    ]);
    expect((await fixture.call('GET', '/v1/tenants/acme/conversations')).body.data).toEqual([]);
    fixture.identities.set('acme#slack#U9', 'cid');
    await send(slackMessage('hello', '3.0', { user: 'U9' }));
    await work();
    expect(providers.sent).toHaveLength(2);
  });

  it('does not count a notice as sent that a concurrent worker would drop', async () => {
    const stranger = (ts: string) => send(slackMessage('hello', ts, { user: 'U9' }));
    await stranger('1.0');
    const findState = async () => (await everyItem(fixture.target)).find(({ sk }) => sk === 'STATE');
    const { reply: _, ...sent } = (await findState())!;
    const Item = { ...sent, fence: 'a worker', leased_until: fixture.clock.now() + 30_000 };
    await fixture.target.client.put({ TableName: 'conversations', Item }); // it has sent the first notice
    fixture.tenants.get('acme')!.status = 'suspended';
    await stranger('2.0');
    expect(await findState()).toEqual(Item);
    fixture.clock.set(Item.leased_until + 1);
    await work();
    await stranger('3.0');
    await work();
    expect(providers.sent).toMatchObject([{ body: { text: expect.stringContaining('not available') } }]);
  });

  it('notifies once that the tenant is suspended, and drops waiting messages', async () => {
    await send(slackMessage('hello', '1.0'));
    fixture.tenants.get('acme')!.status = 'suspended';
    await work();
    for (const ts of ['2.0', '3.0']) await send(slackMessage('hello', ts));
    await work();
    expect(providers.sent.map(({ body }) => body.text)).toEqual([
      'This assistant is not available at the moment.',
    ]);
  });

  it('belongs to the tenant that claims it now', async () => {
    fixture.claims.set('slack#T1', 'globex');
    await send(slackMessage('hello', '1.0'));
    await work();
    expect(providers.sent).toEqual([]);
    const { body } = await fixture.call('GET', '/v1/tenants/globex/conversations', { as: 'globex' });
    expect(body.data).toEqual([]);
  });

  it('encrypts its secrets, and is refused without them', async () => {
    for (const item of await everyItem(fixture.target))
      expect(JSON.stringify(item)).not.toContain('slack-secret');
    const listed = await fixture.call('GET', '/v1/tenants/acme/channel-credentials');
    expect(listed.body.data).toMatchObject([{ type: 'slack', channel_id: 'T1' }]);
    const path = '/v1/tenants/acme/channels/slack/T1/credentials';
    expect((await fixture.call('DELETE', path.replace('acme', 'globex'), { as: 'globex' })).status).toBe(404);
    expect((await fixture.call('PUT', path, { send: { signing_secret: 'x' } })).body.code).toBe(
      'agents.credentials_refused',
    );
    expect((await connect('slack', 'T1', {}, 'globex')).status).toBe(422);
    expect((await fixture.call('PUT', path, { send: {} })).body.code).toBe('agents.channel_not_found');
    fixture.claims.set('slack#T1', 'acme');
    expect((await fixture.call('DELETE', path)).status).toBe(204);
    expect((await send(slackMessage('hello', '1.0'))).status).toBe(401);
  });
});

describe('Telegram', () => {
  it('is identified by its secret token', async () => {
    const secret_token = 'a-secret-of-16-characters';
    await connect('telegram', '77', { secret_token, bot_token: '77:abc' });
    fixture.identities.set('acme#telegram#5', 'ann');
    const update = { update_id: 9, message: { chat: { id: 5 }, from: { id: 5 }, text: 'hello' } };
    const header = { 'X-Telegram-Bot-Api-Secret-Token': secret_token };
    expect((await deliver(fixture, 'telegram', '77', update, {})).status).toBe(401);
    expect(
      (
        await deliver(fixture, 'telegram', '77', update, {
          ...header,
          'X-Telegram-Bot-Api-Secret-Token': 'b',
        })
      ).status,
    ).toBe(401);
    await deliver(fixture, 'telegram', '77', update, header);
    await deliver(fixture, 'telegram', '77', update, header);
    await deliver(fixture, 'telegram', '77', '{"message": 7', header);
    const dateS = Math.floor(fixture.clock.now() / 1000) - 4 * 24 * 60 * 60;
    const old = { update_id: 3, message: { ...update.message, date: dateS } };
    expect((await deliver(fixture, 'telegram', '77', old, header)).status).toBe(200);
    await work();
    expect(providers.sent).toMatchObject([
      {
        path: '/telegram/bot77:abc/sendMessage',
        body: { chat_id: '5', text: expect.stringMatching(/^Hello/) },
      },
    ]);
    expect((await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body.total.messages).toBe(1);
  });

  it('marks where an answer was cut, and splits no characters', async () => {
    await connect('telegram', '77', { secret_token: 'a-secret-of-16-characters', bot_token: '77:abc' });
    fixture.identities.set('acme#telegram#5', 'ann');
    const custom_skills = Array.from({ length: 5 }, (_, i) => `talk_${i}`);
    const send = { description: '😀'.repeat(500), url: 'https://example.com/' };
    for (const name of custom_skills)
      await fixture.call('PUT', `/v1/tenants/acme/custom-skills/${name}`, { send });
    Object.assign(fixture.tenants.get('acme')!.settings, { enabled_skills: [], custom_skills });
    const update = { update_id: 9, message: { chat: { id: 5 }, from: { id: 5 }, text: 'help' } };
    const header = { 'X-Telegram-Bot-Api-Secret-Token': 'a-secret-of-16-characters' };
    await deliver(fixture, 'telegram', '77', update, header);
    await work();
    const text = providers.sent[0]!.body.text as string;
    expect(text).toMatch(/😀 …$/);
    expect(text.length).toBeLessThanOrEqual(4096);
    expect(text.isWellFormed()).toBe(true);
  });
});

describe('WhatsApp', () => {
  it('completes the handshake, verifies the signature, and accepts several messages at once', async () => {
    await connect('whatsapp', '111', {
      app_secret: 'app-secret',
      verify_token: 'verify',
      access_token: 'wa-token',
    });
    fixture.identities.set('acme#whatsapp#4911', 'ann');
    const greet = (token: string) =>
      fixture.call(
        'GET',
        `/v1/channels/whatsapp/111/webhook?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=42`,
        { as: '' },
      );
    expect((await greet('verify')).body).toBe('42');
    expect((await greet('wrong')).status).toBe(404);
    const message = (id: string, body: string) => ({ id, from: '4911', type: 'text', text: { body } });
    const event = (phone: string) => ({
      entry: [
        {
          changes: [
            {
              value: {
                metadata: { phone_number_id: phone },
                messages: [message('w1', 'hi'), message('w2', 'there')],
              },
            },
          ],
        },
      ],
    });
    expect(
      (await deliver(fixture, 'whatsapp', '111', event('111'), signWhatsApp(event('111'), 'wrong'))).status,
    ).toBe(401);
    await deliver(fixture, 'whatsapp', '111', event('222'), signWhatsApp(event('222')));
    await deliver(fixture, 'whatsapp', '111', event('111'), signWhatsApp(event('111')));
    await work();
    expect(providers.sent).toMatchObject([
      {
        path: '/whatsapp/111/messages',
        authorization: 'Bearer wa-token',
        body: { to: '4911', type: 'text' },
      },
    ]);
    expect((await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body.total.messages).toBe(2);
  });
});

describe('Teams', () => {
  const activity = (serviceUrl: string) => ({
    type: 'message',
    id: 'a1',
    serviceUrl,
    conversation: { id: 'c:1' },
    from: { id: '29:x', aadObjectId: 'aad-1' },
    recipient: { id: 'bot' },
    text: '<at>Bot</at> hello',
  });

  it('belongs to the tenant with the app’s password, not to one that claims it', async () => {
    const eve = await connect('teams', 'app-1', { app_password: 'a guess' }, 'globex');
    expect(eve).toMatchObject({ status: 422, body: { code: 'agents.credentials_refused' } });
    const serviceurl = `${providers.url}/teams`;
    const send = async () => {
      const claims = { iss: 'https://api.botframework.com', aud: 'app-1', serviceurl };
      const token = await providers.sign(claims, fixture.clock.now());
      const headers = { Authorization: `Bearer ${token}` };
      return (await deliver(fixture, 'teams', 'app-1', activity(serviceurl), headers)).status;
    };
    expect(await send()).toBe(401);

    providers.tokenStatus.status = 503;
    const asked = await connect('teams', 'app-1', { app_password: 'pw' });
    expect(asked).toMatchObject({ status: 422, body: { detail: expect.stringContaining('Try again') } });
    providers.tokenStatus.status = 200;
    expect((await connect('teams', 'app-1', { app_password: 'pw' })).status).toBe(200);
    expect(await send()).toBe(200);
    await fixture.clock.advance(3600_000);
    providers.tokenStatus.status = 503; // what was proven stays so while Microsoft is away
    expect(await send()).toBe(200);
    providers.tokenStatus.status = 401; // the password was replaced there: the one kept here proves nothing
    expect(await send()).toBe(401);
  });

  it('needs a Bot Framework token for this app and this service address', async () => {
    await connect('teams', 'app-1', { app_password: 'pw' });
    fixture.identities.set('acme#teams#aad-1', 'ann');
    const nowMs = fixture.clock.now();
    const serviceurl = `${providers.url}/teams`;
    const claims = { iss: 'https://api.botframework.com', aud: 'app-1', serviceurl };
    const { privateKey: other } = await generateKeyPair('RS256');
    const send = async (token: string, sent = activity(serviceurl)) =>
      (await deliver(fixture, 'teams', 'app-1', sent, { Authorization: `Bearer ${token}` })).status;
    expect(await send('')).toBe(401);
    expect(await send(await providers.sign(claims, nowMs, other))).toBe(401);
    expect(await send(await providers.sign({ ...claims, aud: 'app-2' }, nowMs))).toBe(401);
    expect(await send(await providers.sign({ ...claims, iss: 'https://evil.example' }, nowMs))).toBe(401);
    expect(await send(await providers.sign(claims, nowMs - 2 * 3600_000))).toBe(401);
    expect(await send(await providers.sign(claims, nowMs), activity('https://evil.example'))).toBe(401);
    expect(await send(await providers.sign(claims, nowMs))).toBe(200);
    await work();
    const body = { type: 'message', textFormat: 'plain', replyToId: 'a1' };
    const path = '/teams/v3/conversations/c%3A1/activities/a1';
    expect(providers.sent).toMatchObject([{ path, authorization: 'Bearer teams-token', body }]);
    expect(providers.sent[0]!.body).toMatchObject({ text: expect.stringMatching(/^Hello/) });
  });
});
