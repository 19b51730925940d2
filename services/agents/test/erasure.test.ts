import { createEngine } from '@stak/engine';
import { createLogger, superviseWorkers, systemClock } from '@stak/kit';
import { createConsumer, engineSource, streamsTable } from '@stak/streams';
import { createTables } from '@stak/table';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { conversationPath, everyItem, isKept, openPlace, type Place, say, settle } from './agents-fixture.ts';

describe('erasing', () => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace();
    place.tenants.get('acme')!.settings = { enabled_skills: ['remember'] };
    for (const user_id of ['zoe.b', 'bob'])
      for (let i = 0; i < 12; i++)
        await say(place, `${user_id}-${i}`, `remember that ${user_id} said ${i}`, { user_id });
  });
  afterEach(() => place.target.close());

  const retryOnConflict = async (erase: () => Promise<'done' | 'more'>) => {
    for (let calls = 1; calls < 50; calls++) if ((await erase()) === 'done') return calls;
    throw new Error('it never ends');
  };

  it('removes a user, piece by piece, and nobody else', async () => {
    const { eraser } = place.agents;
    const calls = await retryOnConflict(() => eraser.eraseUser('acme', 'zoe.b'));
    expect(calls).toBeGreaterThan(1);
    await settle(place);
    const left = [...(await everyItem(place.target)), ...(await everyItem(place.target, 'tenants'))];
    expect(left.filter(item => JSON.stringify(item).includes('zoe.b'))).toEqual([]);
    expect((await place.call('GET', conversationPath('bob-3'))).status).toBe(200);
    expect(await eraser.eraseUser('acme', 'zoe.b')).toBe('done');
  });

  it('removes a tenant with everything it has', async () => {
    place.claims.set('slack#T1', 'acme');
    const credentials = { signing_secret: 's', bot_token: 'b' };
    await place.call('PUT', '/v1/tenants/acme/channels/slack/T1/credentials', { send: credentials });
    const send = { description: 'x', url: 'http://127.0.0.1:9/' };
    await place.call('PUT', '/v1/tenants/acme/custom-skills/mine', { send });
    await retryOnConflict(() => place.agents.eraser.eraseTenant('acme'));
    await settle(place);
    expect(await everyItem(place.target)).toEqual([]);
    expect(await everyItem(place.target, 'tenants')).toEqual([]);
  });

  it('leaves a channel alone that belongs to another tenant by now', async () => {
    for (const tenant of ['acme', 'globex']) {
      place.claims.set('slack#T1', tenant);
      const send = { signing_secret: tenant, bot_token: 'b' };
      await place.call('PUT', `/v1/tenants/${tenant}/channels/slack/T1/credentials`, { as: tenant, send });
    }
    await retryOnConflict(() => place.agents.eraser.eraseTenant('acme'));
    const left = (await everyItem(place.target)).filter(({ pk }) => String(pk).startsWith('CHANNEL'));
    expect(left.map(({ pk }) => pk).sort()).toEqual(['CHANNEL#slack#T1', 'CHANNELS#globex']);
  });

  it('exports what there is about a user', async () => {
    const kinds: Record<string, number> = {};
    for await (const { kind, item } of place.agents.eraser.exportUser('acme', 'bob')) {
      kinds[kind] = (kinds[kind] ?? 0) + 1;
      expect(JSON.stringify(item)).not.toContain('zoe.b');
    }
    expect(kinds).toEqual({ conversation: 12, turn: 12, memory: 12, 'agent usage': 1 });
  });
});

describe('the stream', () => {
  it('brings what another program wrote into the log, and removes what it deleted', async () => {
    const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
    const place = await openPlace(async () => ({
      client: engine.client,
      control: engine,
      close: () => engine.close(),
    }));
    await createTables(engine, [streamsTable]);
    const log = createLogger({ level: 'silent' });
    const consumers = place.agents.subscriptions.map(subscription =>
      createConsumer({ subscription, source: engineSource(engine), client: engine.client, log }),
    );
    const workers = superviseWorkers(consumers, { clock: systemClock, log });
    const listed = async () => (await place.call('GET', '/v1/tenants/acme/conversations')).body.data;
    const messages = JSON.stringify([{ role: 'user', content: 'my word is 4242' }]);
    const Key = { pk: 'acme', sk: 'theirs' };
    const ttl = Math.floor(place.clock.now() / 1000) + 1000;
    await engine.client.put({ TableName: 'conversations', Item: { ...Key, messages, updated_at: 'x', ttl } });
    while ((await listed()).length === 0) await systemClock.sleep(5);
    expect(await listed()).toMatchObject([{ conversation_id: 'theirs', turns: 1, title: 'my word is 4242' }]);
    await engine.client.delete({ TableName: 'conversations', Key });
    while (await isKept(place, '4242')) {
      await settle(place);
      await systemClock.sleep(5);
    }
    await workers.stop();
    await place.target.close();
  });
});
