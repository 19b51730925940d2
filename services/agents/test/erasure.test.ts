import { createEngine } from '@stak/engine';
import { createLogger, superviseWorkers, systemClock } from '@stak/kit';
import { createConsumer, engineSource, streamsTable } from '@stak/streams';
import { createStore, createTables } from '@stak/table';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { notice } from '../src/channels/tables.ts';
import { mcpServer } from '../src/skills/mcp/tables.ts';
import {
  conversationPath,
  everyItem,
  type Fixture,
  isKept,
  openFixture,
  say,
  settle,
} from './agents-fixture.ts';

describe('erasing', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await openFixture();
    fixture.tenants.get('acme')!.settings = { enabled_skills: ['remember'] };
    for (const user_id of ['zoe.b', 'bob'])
      for (let i = 0; i < 12; i++)
        await say(fixture, `${user_id}-${i}`, `remember that ${user_id} said ${i}`, { user_id });
  });
  afterEach(() => fixture.target.close());

  const retryOnConflict = async (erase: () => Promise<'done' | 'more'>) => {
    for (let calls = 1; calls < 50; calls++) if ((await erase()) === 'done') return calls;
    throw new Error('it never ends');
  };

  it('removes a user in steps, and no other user', async () => {
    const { eraser } = fixture.agents;
    const calls = await retryOnConflict(() => eraser.eraseUser('acme', 'zoe.b'));
    expect(calls).toBeGreaterThan(1);
    await settle(fixture);
    const left = [...(await everyItem(fixture.target)), ...(await everyItem(fixture.target, 'tenants'))];
    expect(left.filter(item => JSON.stringify(item).includes('zoe.b'))).toEqual([]);
    expect((await fixture.call('GET', conversationPath('bob-3'))).status).toBe(200);
    expect(await eraser.eraseUser('acme', 'zoe.b')).toBe('done');
  });

  it('removes a tenant with all its data', async () => {
    fixture.claims.set('slack#T1', 'acme');
    const credentials = { signing_secret: 's', bot_token: 'b' };
    await fixture.call('PUT', '/v1/tenants/acme/channels/slack/T1/credentials', { send: credentials });
    const send = { description: 'x', url: 'http://127.0.0.1:9/' };
    await fixture.call('PUT', '/v1/tenants/acme/custom-skills/mine', { send });
    const settings = '/v1/tenants/acme/users/bob/memory-settings';
    expect((await fixture.call('PATCH', settings, { send: { is_declined: true } })).status).toBe(200);
    const forget = '/v1/tenants/acme/users/zoe.b/memory/zoe.b-0';
    expect((await fixture.call('DELETE', forget)).status).toBe(204);
    const store = createStore({ client: fixture.target.client });
    const at = '2026-01-01T00:00:00.000Z';
    await store.put(mcpServer, {
      ...{ tenant_id: 'acme', name: 'notes', url: 'https://notes.example', header_names: [] },
      ...{ tools: '[]', skipped: '[]', tools_at: at, created_at: at, updated_at: at },
    });
    const sender = { type: 'slack', identity: 'U1', reason: 'unknown' };
    await store.put(notice, { tenant_id: 'acme', ...sender, ttl: 2_000_000_000 });
    const kinds = (await everyItem(fixture.target)).map(({ pk }) => String(pk).split('#')[0]);
    expect(kinds).toEqual(expect.arrayContaining(['MCP', 'NOTICE', 'CHANNEL', 'CHANNELS', 'USAGE']));
    const aside = (await everyItem(fixture.target, 'tenants')).map(({ sk }) => String(sk).split('#')[0]);
    expect(aside).toEqual(expect.arrayContaining(['FORGOTTEN']));
    await retryOnConflict(() => fixture.agents.eraser.eraseTenant('acme'));
    await settle(fixture);
    expect(await everyItem(fixture.target)).toEqual([]);
    expect(await everyItem(fixture.target, 'tenants')).toEqual([]);
  });

  it('keeps a channel that belongs to another tenant by now', async () => {
    for (const tenant of ['acme', 'globex']) {
      fixture.claims.set('slack#T1', tenant);
      const send = { signing_secret: tenant, bot_token: 'b' };
      await fixture.call('PUT', `/v1/tenants/${tenant}/channels/slack/T1/credentials`, { as: tenant, send });
    }
    await retryOnConflict(() => fixture.agents.eraser.eraseTenant('acme'));
    const left = (await everyItem(fixture.target)).filter(({ pk }) => String(pk).startsWith('CHANNEL'));
    expect(left.map(({ pk }) => pk).sort()).toEqual(['CHANNEL#slack#T1', 'CHANNELS#globex']);
  });

  it('exports all data about a user', async () => {
    const kinds: Record<string, number> = {};
    for await (const { kind, item } of fixture.agents.eraser.exportUser('acme', 'bob')) {
      kinds[kind] = (kinds[kind] ?? 0) + 1;
      expect(JSON.stringify(item)).not.toContain('zoe.b');
    }
    expect(kinds).toEqual({ conversation: 12, turn: 12, memory: 12, 'agent usage': 1 });
  });
});

describe('the stream', () => {
  it('adds what another program wrote to the log, and removes what it deleted', async () => {
    const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
    const fixture = await openFixture(async () => ({
      client: engine.client,
      control: engine,
      close: () => engine.close(),
    }));
    await createTables(engine, [streamsTable]);
    const log = createLogger({ level: 'silent' });
    const consumers = fixture.agents.subscriptions.map(subscription =>
      createConsumer({ subscription, source: engineSource(engine), client: engine.client, log }),
    );
    const workers = superviseWorkers(consumers, { clock: systemClock, log });
    const listed = async () => (await fixture.call('GET', '/v1/tenants/acme/conversations')).body.data;
    const messages = JSON.stringify([{ role: 'user', content: 'my word is 4242' }]);
    const Key = { pk: 'acme', sk: 'theirs' };
    const ttl = Math.floor(fixture.clock.now() / 1000) + 1000;
    await engine.client.put({ TableName: 'conversations', Item: { ...Key, messages, updated_at: 'x', ttl } });
    while ((await listed()).length === 0) await systemClock.sleep(5);
    expect(await listed()).toMatchObject([{ conversation_id: 'theirs', turns: 1, title: 'my word is 4242' }]);
    await engine.client.delete({ TableName: 'conversations', Key });
    while (await isKept(fixture, '4242')) {
      await settle(fixture);
      await systemClock.sleep(5);
    }
    await workers.stop();
    await fixture.target.close();
  });
});
