import type { DynamoClient } from '@stak/table';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  advanceUntil,
  everyItem,
  type Fixture,
  openFixture,
  openProcess,
  settle,
  until,
} from './agents-fixture.ts';
import { deliver, openProviders, signSlack, slackMessage } from './channel-stub.ts';

// A provider cannot be asked whether it has a reply: what it accepted must not be sent again.

let fixture: Fixture;
let providers: Awaited<ReturnType<typeof openProviders>>;
beforeEach(async () => {
  providers = await openProviders();
  fixture = await openFixture(undefined, { addresses: providers.addresses });
});
afterEach(async () => {
  await providers.close();
  await fixture.target.close();
});

type Update = Parameters<DynamoClient['update']>[0];

// A process over the same tables. The updates that a test chooses are throttled, so often that the store gives up.
function openThrottled(isThrottled: (input: Update) => boolean) {
  const attempts = 8; // of the store
  let left = attempts;
  const { client } = fixture.target;
  const update: DynamoClient['update'] = async input => {
    if (!isThrottled(input) || left === 0) return client.update(input);
    left -= 1;
    throw Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' });
  };
  const { clock, target } = fixture;
  const opened = openProcess(target, {
    clock,
    client: { ...client, update },
    addresses: providers.addresses,
  });
  return { process: opened, left: () => left };
}

async function connect(one: Fixture, settings: object = {}): Promise<void> {
  one.tenants.get('acme')!.settings = {
    enabled_channels: ['slack'],
    enabled_skills: ['usage'],
    ...settings,
  };
  one.claims.set('slack#T1', 'acme');
  one.identities.set('acme#slack#U1', 'ann');
  const path = '/v1/tenants/acme/channels/slack/T1/credentials';
  await one.call('PUT', path, { send: { signing_secret: 'slack-secret', bot_token: 'xoxb-1' } });
}

// Leaves an answer that is due to be sent.
async function answer(one: Fixture, text = 'hello'): Promise<void> {
  const event = slackMessage(text, '1.0');
  await deliver(one, 'slack', 'T1', event, signSlack(one, event));
  await one.clock.advance(1_000); // a burst is over
  expect(await one.agents.runDue()).toEqual({ worked: 1 });
  expect(providers.sent).toEqual([]);
}

// Now, and not again later.
async function expectSentOnce(one: Fixture): Promise<void> {
  let isOver = false;
  const sending = settle(one).finally(() => {
    isOver = true;
  });
  await advanceUntil(one, () => isOver);
  await sending;
  await one.clock.advance(60_000);
  await settle(one);
  expect(providers.sent).toHaveLength(1);
}

// An import, or another program, may have written the conversation.
it('a reply that names another tenant’s channel is not sent', async () => {
  await connect(fixture);
  fixture.claims.set('slack#T2', 'globex');
  const path = '/v1/tenants/globex/channels/slack/T2/credentials';
  const send = { signing_secret: 'slack-secret', bot_token: 'xoxb-2' };
  expect((await fixture.call('PUT', path, { as: 'globex', send })).status).toBeLessThan(300);
  await answer(fixture);
  const owing = async () => (await everyItem(fixture.target)).filter(({ reply }) => reply !== undefined);
  const [item, ...others] = await owing();
  expect(others).toEqual([]);
  const reply = { ...JSON.parse(item!.reply as string), tenant_id: 'globex', channel_id: 'T2' };
  const Item = { ...item, reply: JSON.stringify(reply) };
  await fixture.target.client.put({ TableName: 'conversations', Item });
  await settle(fixture);
  expect([providers.sent, await owing()]).toEqual([[], []]);
});

describe('a reply that the provider accepted is not sent again', () => {
  it('if the store is throttled when that is to be stored', async () => {
    const { process, left } = openThrottled(() => providers.sent.length > 0);
    await connect(process);
    await answer(process);
    await expectSentOnce(process);
    expect(left()).toBe(0);
  });

  it('if where its buttons are shown could not be stored', async () => {
    const { process, left } = openThrottled(({ ExpressionAttributeNames = {} }) =>
      Object.values(ExpressionAttributeNames).includes('shown'),
    );
    await connect(process, { skill_approvals: { usage: 'user' } });
    await answer(process, 'usage');
    await expectSentOnce(process);
    expect(left()).toBe(0);
  });

  it('by another process, if it took longer than a lease', async () => {
    const other = openProcess(fixture.target, { clock: fixture.clock, addresses: providers.addresses });
    await connect(fixture);
    await connect(other);
    await answer(fixture);
    let finish = () => {};
    providers.waits.push(
      new Promise(resolve => {
        finish = resolve;
      }),
    );
    const sending = fixture.agents.runDue();
    await until(() => providers.sent.length === 1);
    for (let s = 0; s < 45; s++) {
      await fixture.clock.advance(1_000);
      await other.agents.runDue();
    }
    finish();
    await sending;
    await settle(other);
    expect(providers.sent).toHaveLength(1);
  });
});

describe('a channel that another tenant has by now', () => {
  it('carries no reply of the tenant that had it before', async () => {
    await connect(fixture);
    await answer(fixture, 'hello');
    fixture.claims.set('slack#T1', 'globex');
    const credentials = { send: { signing_secret: 'other-secret', bot_token: 'xoxb-2' }, as: 'globex' };
    const path = '/v1/tenants/globex/channels/slack/T1/credentials';
    expect((await fixture.call('PUT', path, credentials)).status).toBe(200);
    await settle(fixture);
    await fixture.clock.advance(60_000);
    await settle(fixture);
    expect(providers.sent).toEqual([]);
  });
});
