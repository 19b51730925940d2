import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { advanceUntil, type Fixture, openFixture, openProcess, settle } from './agents-fixture.ts';
import { deliver, openProviders, signSlack, slackMessage } from './channel-stub.ts';

// Approvals as buttons, in Slack and in Teams.

let fixture: Fixture;
let providers: Awaited<ReturnType<typeof openProviders>>;
beforeEach(async () => {
  providers = await openProviders();
  fixture = await openFixture(undefined, {
    addresses: providers.addresses,
    roleOf: async (_, userId) => (userId === 'boss' ? 'admin' : 'member'),
  });
  fixture.tenants.get('acme')!.settings = {
    enabled_channels: ['dashboard', 'slack', 'teams'],
    enabled_skills: ['usage'],
    skill_approvals: { usage: 'user' },
    approval_hours: 1,
  };
  for (const [identity, user] of [
    ['slack#U1', 'ann'],
    ['slack#U2', 'bob'],
    ['slack#U9', 'boss'],
    ['teams#aad-1', 'ann'],
    ['teams#aad-2', 'bob'],
  ])
    fixture.identities.set(`acme#${identity}`, user!);
});
afterEach(async () => {
  await providers.close();
  await fixture.target.close();
});

const connect = async (type: string, id: string, credentials: object, tenant = 'acme') => {
  fixture.claims.set(`${type}#${id}`, tenant);
  const path = `/v1/tenants/${tenant}/channels/${type}/${id}/credentials`;
  expect((await fixture.call('PUT', path, { as: tenant, send: credentials })).status).toBe(200);
};
const work = async () => {
  await fixture.clock.advance(1_000); // a burst is over
  await settle(fixture);
};
const list = async () => (await fixture.call('GET', '/v1/tenants/acme/approvals')).body.data;
const statusOf = async (conversation_id: string) =>
  (await fixture.call('GET', `/v1/tenants/acme/conversations/${conversation_id}/approvals`)).body.data[0];
const replies = () => providers.sent.filter(({ body }) => /^You, today/.test(String(body.text)));

describe('Slack', () => {
  beforeEach(() => connect('slack', 'T1', { signing_secret: 'slack-secret', bot_token: 'xoxb-1' }));

  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  type Press = {
    user?: string;
    team?: string;
    id?: string;
    action?: string;
    value: string;
    times?: number;
  };
  const payloadOf = ({ user = 'U1', team = 'T1', action = 'approve', value, times = 1 }: Press) => {
    const payload = {
      type: 'block_actions',
      team: { id: team },
      user: { id: user },
      channel: { id: 'D1' },
      message: { ts: 'shown-1' },
      actions: Array(times).fill({ type: 'button', action_id: action, value }),
    };
    return String(new URLSearchParams({ payload: JSON.stringify(payload) }));
  };
  const press = (given: Press, secret = 'slack-secret', shiftS = 0) => {
    const body = payloadOf(given);
    const headers = { ...form, ...signSlack(fixture, body, secret, shiftS) };
    return deliver(fixture, 'slack', given.id ?? 'T1', body, headers);
  };
  const ask = async (ts = '1.0') => {
    const event = slackMessage('usage', ts);
    await deliver(fixture, 'slack', 'T1', event, signSlack(fixture, event));
    await work();
    const [waiting] = await list();
    const { conversation_id, approval_id } = waiting as Record<string, string>;
    return {
      conversation_id: conversation_id!,
      approval_id: approval_id!,
      value: `${conversation_id} ${approval_id}`,
    };
  };
  const privateReplies = () => providers.sent.filter(({ path }) => path.endsWith('chat.postEphemeral'));
  const blocksOf = (sent: { body: Record<string, unknown> }) => sent.body.blocks as { type: string }[];

  it('shows buttons; the pressed one decides, once, and they are removed', async () => {
    const { conversation_id, value } = await ask();
    expect(providers.sent).toHaveLength(1);
    expect(providers.sent[0]!.body).toMatchObject({
      channel: 'D1',
      text: 'This needs an approval first:\n- usage {}',
    });
    expect(blocksOf(providers.sent[0]!)).toMatchObject([
      { type: 'section', text: { type: 'plain_text', text: 'This needs an approval first:' } },
      { type: 'section', text: { type: 'plain_text', text: 'usage {}' } },
      {
        type: 'actions',
        elements: [
          { type: 'button', action_id: 'approve', value },
          { type: 'button', action_id: 'refuse', value },
        ],
      },
    ]);
    expect(await press({ value })).toMatchObject({ status: 200, body: {} });
    expect(await press({ value })).toMatchObject({ status: 200, body: {} }); // the answer got lost
    expect(await statusOf(conversation_id)).toMatchObject({ status: 'approved', decided_by: 'user:ann' });
    const by = { via: 'slack', credentialId: 'acme/ann' };
    expect(fixture.audited).toMatchObject([{ ...by, detail: 'approved usage', accountId: 'usr_acme' }]);
    await work();
    const updates = providers.sent.filter(({ path }) => path.endsWith('chat.update'));
    expect(updates).toHaveLength(1);
    expect(updates[0]!.body).toMatchObject({ channel: 'D1', ts: 'shown-1' });
    expect(blocksOf(updates[0]!)).toMatchObject([
      { type: 'section' },
      { type: 'section' },
      { type: 'context', elements: [{ text: 'Approved.' }] },
    ]);
    expect(replies()).toHaveLength(1);
    expect(privateReplies()).toEqual([]);

    await press({ value, action: 'refuse' });
    await work();
    expect(privateReplies().map(({ body }) => body)).toEqual([
      { channel: 'D1', user: 'U1', text: 'This approval is already approved.' },
    ]);
    expect(replies()).toHaveLength(1);
  });

  it('answers a few buttons of one request', async () => {
    const { conversation_id } = await ask();
    await press({ value: `${conversation_id} apr_unknown`, times: 500 });
    expect(privateReplies()).toHaveLength(10);
  });

  it('shows buttons, also if a request of the host leads to the question', async () => {
    const event = slackMessage('usage', '1.0');
    await deliver(fixture, 'slack', 'T1', event, signSlack(fixture, event));
    const { body } = await fixture.call('GET', '/v1/tenants/acme/conversations?user_id=ann');
    const path = `/v1/tenants/acme/conversations/${body.data[0].conversation_id}/messages`;
    expect((await fixture.call('POST', path, { send: { content: 'usage' } })).status).toBe(202);
    await work();
    expect(providers.sent).toHaveLength(1);
    expect(blocksOf(providers.sent[0]!).at(-1)).toMatchObject({ type: 'actions' });
  });

  it('refuses people who may not decide, and replies to them alone', async () => {
    const { conversation_id, value } = await ask();
    await press({ value, user: 'U2' });
    await press({ value, user: 'U9' }); // an admin, but it is Ann's to decide
    await press({ value, user: 'U7' });
    expect(privateReplies().map(({ body }) => [body.user, body.text])).toEqual([
      ['U2', 'You cannot decide this, or it has already been decided.'],
      ['U9', 'You cannot decide this, or it has already been decided.'],
      ['U7', expect.stringContaining('I do not know you yet')],
    ]);
    expect(await statusOf(conversation_id)).toMatchObject({ status: 'waiting' });

    fixture.tenants.get('acme')!.settings.enabled_channels = ['dashboard'];
    await press({ value });
    fixture.tenants.get('acme')!.status = 'suspended';
    await press({ value });
    expect(
      privateReplies()
        .slice(3)
        .map(({ body }) => body.text),
    ).toEqual(['This assistant does not answer here.', 'This assistant is not available at the moment.']);
    fixture.tenants.get('acme')!.status = 'active';
    expect(await statusOf(conversation_id)).toMatchObject({ status: 'waiting' });
  });

  it('accepts only requests signed by Slack, for its own workspace and tenant', async () => {
    const { conversation_id, approval_id, value } = await ask();
    expect((await press({ value }, 'a guess')).status).toBe(401);
    expect((await press({ value }, 'slack-secret', -600)).status).toBe(401);
    const body = payloadOf({ value });
    expect((await deliver(fixture, 'slack', 'T1', body, form)).status).toBe(401);
    const other = payloadOf({ value, action: 'refuse' });
    const headers = { ...form, ...signSlack(fixture, body) };
    expect((await deliver(fixture, 'slack', 'T1', other, headers)).status).toBe(401);
    // Signed, but about nothing that there is.
    for (const odd of [
      '',
      'nonsense',
      `${conversation_id}`,
      ` ${approval_id}`,
      `${conversation_id} apr_none`,
    ])
      expect((await press({ value: odd })).status).toBe(200);
    expect((await press({ value, team: 'T2' })).status).toBe(200);
    expect((await press({ value, action: 'delete' })).status).toBe(200);

    // Another tenant's workspace, whose user has the same name.
    await connect('slack', 'T2', { signing_secret: 'slack-secret', bot_token: 'xoxb-2' }, 'globex');
    fixture.tenants.get('globex')!.settings = { enabled_channels: ['slack'] };
    fixture.identities.set('globex#slack#U1', 'ann');
    expect((await press({ value, team: 'T2', id: 'T2' })).status).toBe(200);
    expect(await statusOf(conversation_id)).toMatchObject({ status: 'waiting' });
  });

  it('counts one of many concurrent decisions', async () => {
    const { conversation_id, value } = await ask();
    let pressed = 0;
    for (let i = 0; i < 6; i++)
      press({ value, action: i % 2 ? 'approve' : 'refuse' }).then(() => {
        pressed += 1;
      });
    await advanceUntil(fixture, () => pressed === 6); // those who lose a race wait a moment
    const { status } = await statusOf(conversation_id);
    expect(['approved', 'refused']).toContain(status);
    await work();
    expect(replies()).toHaveLength(status === 'approved' ? 1 : 0);
    expect(privateReplies()).toHaveLength(3);
  });

  it('shows a decision made elsewhere, and an expiry', async () => {
    const { conversation_id, approval_id } = await ask();
    const path = `/v1/tenants/acme/conversations/${conversation_id}/approvals/${approval_id}`;
    await fixture.call('POST', path, { as: 'acme~ann', send: { approved: false, reason: 'not today' } });
    await work();
    expect(blocksOf(providers.sent[1]!).at(-1)).toMatchObject({ elements: [{ text: 'Refused: not today' }] });

    const late = await ask('2.0');
    await fixture.clock.advance(3_600_000);
    await settle(fixture);
    const update = providers.sent.findLast(({ path: to }) => to.endsWith('chat.update'))!;
    expect(blocksOf(update).at(-1)).toMatchObject({ elements: [{ text: 'It was not decided in time.' }] });
    await press(late);
    expect(privateReplies().at(-1)!.body.text).toBe('This approval is already expired.');
  });

  it('continues at once, also after a decision while earlier turns are being noted', async () => {
    const talk = slackMessage('What is the weather?', '1.0');
    await deliver(fixture, 'slack', 'T1', talk, signSlack(fixture, talk));
    await work();
    await fixture.clock.advance(600_000); // quiet for long enough
    const event = slackMessage('usage', '2.0');
    await deliver(fixture, 'slack', 'T1', event, signSlack(fixture, event));
    await fixture.clock.advance(1_000);
    let decided = 0;
    const { client } = fixture.target;
    const worker = openProcess(fixture.target, {
      addresses: providers.addresses,
      clock: fixture.clock,
      client: {
        ...client,
        async get(input) {
          const found = await client.get(input);
          if (!String(input.Key.sk).startsWith('NOMEMORY#') || decided++ > 0) return found;
          const [{ conversation_id, approval_id }] = await list();
          await press({ value: `${conversation_id} ${approval_id}` });
          return found;
        },
      },
    });
    worker.tenants.get('acme')!.settings = fixture.tenants.get('acme')!.settings;
    await settle(worker);
    expect(decided).toBeGreaterThan(0);
    expect(replies()).toHaveLength(1);
  });

  it('lets an admin decide what needs one', async () => {
    fixture.tenants.get('acme')!.settings.skill_approvals = { usage: 'admin' };
    const { conversation_id, value } = await ask();
    await press({ value });
    expect(privateReplies()[0]!.body.text).toBe('An admin of the tenant has to decide this.');
    await press({ value, user: 'U9' });
    expect(await statusOf(conversation_id)).toMatchObject({ status: 'approved', decided_by: 'user:boss' });
  });

  it('continues without a message that cannot be updated', async () => {
    const { value } = await ask();
    await press({ value });
    providers.refusals.push({ status: 500, body: {} });
    await work();
    expect(replies()).toHaveLength(1);
  });

  it('asks again if the channel was unreachable, but not if the conversation was deleted', async () => {
    providers.refusals.push({ status: 503, body: {} });
    const { conversation_id } = await ask();
    expect(providers.sent).toEqual([]);
    await fixture.clock.advance(10_000);
    await settle(fixture);
    expect(providers.sent).toHaveLength(1);

    providers.refusals.push({ status: 503, body: {} });
    const event = slackMessage('usage', '9.0', { channel: 'D2' });
    await deliver(fixture, 'slack', 'T1', event, signSlack(fixture, event));
    await work();
    const waiting = (await list()).find(
      (one: { conversation_id: string }) => one.conversation_id !== conversation_id,
    );
    await fixture.call('DELETE', `/v1/tenants/acme/conversations/${waiting.conversation_id}`);
    await fixture.clock.advance(10_000);
    await settle(fixture);
    expect(providers.sent).toHaveLength(1);
  });
});

describe('Teams', () => {
  beforeEach(() => connect('teams', 'app-1', { app_password: 'pw' }));

  const activity = (change: object) => ({
    serviceUrl: `${providers.url}/teams`,
    from: { id: '29:1', aadObjectId: 'aad-1' },
    conversation: { id: 'c:1' },
    ...change,
  });
  const send = async (given: object, audience = 'app-1') => {
    const claims = {
      iss: 'https://api.botframework.com',
      aud: audience,
      serviceurl: `${providers.url}/teams`,
    };
    const token = await providers.sign(claims, fixture.clock.now());
    return deliver(fixture, 'teams', 'app-1', given, { Authorization: `Bearer ${token}` });
  };
  const ask = async () => {
    await send(activity({ type: 'message', id: 'a1', text: 'usage' }));
    await work();
    const [{ conversation_id, approval_id }] = await list();
    return { conversation_id, approval_id };
  };
  const pressed = (data: object, change: object = {}) =>
    activity({
      type: 'invoke',
      name: 'adaptiveCard/action',
      id: 'a2',
      value: { action: { type: 'Action.Execute', verb: 'approve', data } },
      ...change,
    });
  const cardOf = (sent: { body: Record<string, unknown> }) =>
    (sent.body.attachments as { content: { body: Record<string, unknown>[] } }[])[0]!.content;

  it('shows a card; the pressed button decides, once, and the buttons are removed', async () => {
    const data = await ask();
    expect(providers.sent[0]).toMatchObject({
      method: 'POST',
      path: '/teams/v3/conversations/c%3A1/activities/a1',
    });
    expect(cardOf(providers.sent[0]!).body.at(-1)).toMatchObject({
      type: 'ActionSet',
      actions: [
        {
          type: 'Action.Execute',
          verb: 'approve',
          data: { ...data, approved: true },
          fallback: 'Action.Submit',
        },
        { type: 'Action.Execute', verb: 'refuse', data: { ...data, approved: false } },
      ],
    });
    const answer = { statusCode: 200, type: 'application/vnd.microsoft.activity.message' };
    expect(await send(pressed({ ...data, approved: true }))).toMatchObject({
      status: 200,
      body: { ...answer, value: 'Approved.' },
    });
    await work();
    const [update] = providers.sent.filter(({ method }) => method === 'PUT');
    expect(update).toMatchObject({ path: '/teams/v3/conversations/c%3A1/activities/shown-1' });
    expect(JSON.stringify(cardOf(update!))).not.toContain('ActionSet');
    expect(cardOf(update!).body.at(-1)).toMatchObject({ inlines: [{ text: 'Approved.' }] });
    expect(replies()).toHaveLength(1);
    expect((await send(pressed({ ...data, approved: false }))).body).toEqual({
      ...answer,
      value: 'This approval is already approved.',
    });
  });

  it('accepts decisions from older clients, which send them as messages', async () => {
    const data = await ask();
    const submitted = activity({ type: 'message', id: 'a2', value: { ...data, approved: false } });
    expect(await send(submitted)).toMatchObject({ status: 200, body: {} });
    expect(await statusOf(data.conversation_id)).toMatchObject({ status: 'refused', decided_by: 'user:ann' });
  });

  it('refuses requests not signed for this bot, and people who may not decide', async () => {
    const data = { ...(await ask()), approved: true };
    expect((await deliver(fixture, 'teams', 'app-1', pressed(data), {})).status).toBe(401);
    expect((await send(pressed(data), 'app-2')).status).toBe(401);
    const bob = { from: { id: '29:2', aadObjectId: 'aad-2' } };
    expect((await send(pressed(data, bob))).body.value).toBe(
      'You cannot decide this, or it has already been decided.',
    );
    for (const odd of [
      {},
      { approved: true },
      { ...data, approved: 'yes' },
      { ...data, approval_id: 'apr_none' },
    ])
      expect((await send(pressed(odd))).status).toBe(200);
    expect(await statusOf(data.conversation_id)).toMatchObject({ status: 'waiting' });
  });
});
