import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createModels } from '../src/index.ts';
import { type Fixture, openFixture, openProcess, settle } from './agents-fixture.ts';
import { deliver, openProviders, signSlack, slackMessage } from './channel-stub.ts';
import { openStub } from './openai-stub.ts';

// What failed is tried again by time, however many messages arrive meanwhile.

const hourMs = 60 * 60_000;

let fixture: Fixture;
let providers: Awaited<ReturnType<typeof openProviders>>;
beforeEach(async () => {
  providers = await openProviders();
  fixture = await openFixture(undefined, { addresses: providers.addresses });
  await connect(fixture);
});
afterEach(async () => {
  await providers.close();
  await fixture.target.close();
});

async function connect(one: Fixture, settings: object = {}): Promise<void> {
  one.tenants.get('acme')!.settings = { enabled_channels: ['dashboard', 'slack', 'telegram'], ...settings };
  one.claims.set('slack#T1', 'acme');
  one.claims.set('telegram#7', 'acme');
  one.identities.set('acme#slack#U1', 'ann');
  one.identities.set('acme#telegram#42', 'ann');
  const path = '/v1/tenants/acme/channels';
  await one.call('PUT', `${path}/slack/T1/credentials`, {
    send: { signing_secret: 'slack-secret', bot_token: 'xoxb-1' },
  });
  await one.call('PUT', `${path}/telegram/7/credentials`, {
    send: { secret_token: 'a-secret-token-of-telegram', bot_token: '7:abc' },
  });
}

const send = (one: Fixture, text: string, ts: string) => {
  const event = slackMessage(text, ts);
  return deliver(one, 'slack', 'T1', event, signSlack(one, event));
};
const pass = async (one: Fixture, ms: number) => {
  await one.clock.advance(ms);
  await settle(one);
};
const texts = () => providers.sent.map(({ body }) => String(body.text).slice(0, 7));

type Refusal = (typeof providers.refusals)[number];
// Refuses everything until it is told to stop, and counts.
function refuseWith(refusal: Refusal) {
  const many = 1_000;
  providers.refusals.push(...Array<Refusal>(many).fill(refusal));
  return { count: () => many - providers.refusals.length, stop: () => providers.refusals.splice(0) };
}
const tooMany: Refusal = { status: 429, body: {}, headers: { 'retry-after': '30' } };

describe('a reply that the channel does not take now', () => {
  it('is tried again by time, not with each new message, and nothing is lost', async () => {
    const refusing = refuseWith(tooMany);
    await send(fixture, 'hello', '1.0');
    await pass(fixture, 1_000);
    expect(refusing.count()).toBe(1);
    for (let i = 2; i < 12; i++) {
      await send(fixture, 'thanks', `${i}.0`);
      await pass(fixture, 1_500);
    }
    expect(refusing.count()).toBe(1);
    await pass(fixture, 20_000);
    expect(refusing.count()).toBe(2);
    refusing.stop();
    await pass(fixture, 30_000);
    await settle(fixture);
    expect(providers.sent).toHaveLength(2); // ten messages were one burst
    const { body } = await fixture.call('GET', '/v1/tenants/acme/conversations?user_id=ann');
    const path = `/v1/tenants/acme/conversations/${body.data[0].conversation_id}/messages`;
    const { data } = (await fixture.call('GET', path)).body;
    expect(data.map(({ messages }: { messages: unknown[] }) => messages.length)).toEqual([2, 11]);
  });

  it('is tried again at the time that the provider names, in either of its forms', async () => {
    const date = new Date(fixture.clock.now() + 300_000).toUTCString();
    const refusing = refuseWith({ status: 429, body: {}, headers: { 'retry-after': date } });
    await send(fixture, 'hello', '1.0');
    await pass(fixture, 1_000);
    await pass(fixture, 290_000);
    expect(refusing.count()).toBe(1);
    refusing.stop();
    await pass(fixture, 10_000);
    expect(texts()).toEqual(['Hello. ']);
  });

  it('is tried again when Telegram says so, which it does in the body', async () => {
    const refusing = refuseWith({
      status: 429,
      body: { ok: false, error_code: 429, parameters: { retry_after: 90 } },
    });
    const from = { id: 42 };
    const message = { chat: { id: 42 }, from, text: 'hello', date: fixture.clock.now() / 1000 };
    const headers = { 'X-Telegram-Bot-Api-Secret-Token': 'a-secret-token-of-telegram' };
    await deliver(fixture, 'telegram', '7', { update_id: 1, message }, headers);
    await pass(fixture, 1_000);
    await pass(fixture, 80_000);
    expect(refusing.count()).toBe(1);
    refusing.stop();
    await pass(fixture, 10_000);
    expect(texts()).toEqual(['Hello. ']);
  });

  it('is tried again if Slack says with status 200 that it is busy', async () => {
    const refusing = refuseWith({ status: 200, body: { ok: false, error: 'ratelimited' } });
    await send(fixture, 'hello', '1.0');
    await pass(fixture, 1_000);
    expect(refusing.count()).toBe(1);
    refusing.stop();
    await pass(fixture, 10_000);
    expect(texts()).toEqual(['Hello. ']);
  });

  it('is kept for a day, and given up after it', async () => {
    const refusing = refuseWith({ status: 503, body: {} });
    await send(fixture, 'hello', '1.0');
    await pass(fixture, 1_000);
    for (let i = 0; i < 23; i++) await pass(fixture, hourMs);
    const before = refusing.count();
    expect(before).toBeGreaterThan(20);
    for (let i = 0; i < 4; i++) await pass(fixture, hourMs / 2);
    const after = refusing.count();
    expect(after).toBeGreaterThan(before);
    await pass(fixture, hourMs);
    expect(refusing.count()).toBe(after);
  });

  it('survives a process that knew nothing of its time', async () => {
    const refusing = refuseWith(tooMany);
    await send(fixture, 'hello', '1.0');
    await pass(fixture, 1_000);
    const other = openProcess(fixture.target, { clock: fixture.clock, addresses: providers.addresses });
    await connect(other);
    await send(other, 'thanks', '2.0');
    await pass(other, 1_000);
    expect(refusing.count()).toBe(1);
    refusing.stop();
    await pass(other, 30_000);
    await settle(other);
    expect(texts()).toEqual(['Hello. ', 'You are']);
  });
});

describe('a turn that failed', () => {
  it('is tried again by time, not with each new message', async () => {
    const stub = await openStub((_, stream) => stream.refuse(400));
    const one = openProcess(fixture.target, {
      clock: fixture.clock,
      addresses: providers.addresses,
      models: createModels({ openaiCompatible: { baseURL: stub.baseURL } }),
    });
    await connect(one, { ai_provider: 'openai-compatible', ai_model: 'stub' });
    await send(one, 'What time is it?', '1.0');
    await pass(one, 1_000);
    expect(stub.asked).toHaveLength(1);
    for (let i = 2; i < 6; i++) {
      await send(one, 'And now?', `${i}.0`);
      await pass(one, 1_500);
    }
    expect(stub.asked).toHaveLength(1);
    await pass(one, 15_000);
    expect(stub.asked).toHaveLength(2);
    await stub.close();
  });
});
