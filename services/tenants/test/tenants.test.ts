import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultSettings } from '../src/index.ts';
import { type Fixture, openFixture, openProcess, targets } from './tenants-fixture.ts';

describe.each(Object.entries(targets))('tenants, %s', (_, make) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture(make);
  });
  afterAll(() => fixture.target.close());

  const create = (tenant_id: string, as = 'ann') =>
    fixture.call('POST', '/v1/tenants', { as, send: { tenant_id, name: 'Acme' } });

  it('creates a tenant as documented', async () => {
    const { status, body, headers } = await create('documented');
    expect(status).toBe(201);
    expect(headers.get('location')).toBe('/v1/tenants/documented');
    expect(body).toMatchObject({ tenant_id: 'documented', name: 'Acme', status: 'onboarding', version: 1 });
    const key = { pk: 'TENANT#documented', sk: 'META' };
    const { Item } = await fixture.target.client.get({ TableName: 'tenants', Key: key });
    expect(Item).toMatchObject({ ...key, tenant_id: 'documented', status: 'onboarding', name: 'Acme' });
    expect(JSON.parse(Item!.settings)).toEqual(defaultSettings);
  });

  it('generates an id if none is given', async () => {
    const { body } = await fixture.call('POST', '/v1/tenants', { send: { name: 'Nameless' } });
    expect(body.tenant_id).toMatch(/^t-[0-9a-z]{24}$/);
  });

  it('assigns an id once, to any caller', async () => {
    expect((await create('only-one')).status).toBe(201);
    expect(await create('only-one')).toMatchObject({ status: 409, body: { code: 'tenants.id_taken' } });
    expect(await create('only-one', 'bob')).toMatchObject({ status: 409 });
    expect((await fixture.call('GET', '/v1/tenants/only-one', { as: 'bob' })).status).toBe(404);
  });

  it('finds the tenant of a lost response, by the key of the request', async () => {
    const send = { tenant_id: 'once-more', name: 'Acme' };
    const first = await fixture.call('POST', '/v1/tenants', { send, key: 'k1' });
    // Another process, or the same one after a crash, has no stored answer.
    const later = openProcess(fixture.target, { clock: fixture.clock });
    const second = await later.call('POST', '/v1/tenants', { send, key: 'k1' });
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect((await later.call('POST', '/v1/tenants', { send, key: 'k2' })).status).toBe(409);
  });

  it.each(['Ab-cd', 'ab', '-abc', 'abc-', 'a_b', 'a'.repeat(64), 'admin', 'www', 'a#b', '../x', ''])(
    'refuses the id %j',
    async tenant_id => {
      expect(await create(tenant_id)).toMatchObject({ status: 400, body: { code: 'http.request_invalid' } });
    },
  );

  it('lists the tenants of an account, page by page', async () => {
    const { call } = openProcess(fixture.target);
    const ids = ['page-a', 'page-b', 'page-c'];
    for (const tenant_id of ids)
      await call('POST', '/v1/tenants', { as: 'bob', send: { tenant_id, name: 'x' } });
    const first = await call('GET', '/v1/tenants?limit=2', { as: 'bob' });
    expect(first.body.data.map((one: { tenant_id: string }) => one.tenant_id)).toEqual(['page-a', 'page-b']);
    const path = `/v1/tenants?limit=2&cursor=${first.body.next_cursor}`;
    const second = await call('GET', path, { as: 'bob' });
    expect(second.body).toMatchObject({ data: [{ tenant_id: 'page-c' }], next_cursor: null });
    expect(await call('GET', path)).toMatchObject({ status: 400, body: { code: 'http.cursor_refused' } });
  });

  it('goes from onboarding to active, and between active and suspended', async () => {
    await create('moody');
    const become = (status: string, ifMatch?: string) =>
      fixture.call('PATCH', '/v1/tenants/moody', { send: { status }, ifMatch });
    expect(await become('suspended')).toMatchObject({
      status: 409,
      body: { code: 'tenants.status_refused' },
    });
    expect(await become('active')).toMatchObject({ status: 200, body: { status: 'active' }, etag: '"v2"' });
    expect(await become('suspended', '"v1"')).toMatchObject({ status: 412 });
    expect(await become('suspended', '"v2"')).toMatchObject({ status: 200 });
    expect((await fixture.call('GET', '/v1/tenants/moody')).body.status).toBe('suspended');
    expect(await fixture.call('GET', '/v1/tenants/moody/users')).toMatchObject({
      status: 403,
      body: { code: 'tenants.suspended' },
    });
    expect((await become('active')).status).toBe(200);
    expect((await fixture.call('GET', '/v1/tenants/moody/users')).status).toBe(200);
    expect((await become('deleted')).status).toBe(400);
  });

  describe('settings', () => {
    const path = '/v1/tenants/settled/settings';
    beforeAll(async () => void (await create('settled')));

    it('are the documented defaults at first', async () => {
      expect(await fixture.call('GET', path)).toMatchObject({ body: defaultSettings, etag: '"v1"' });
    });

    it('need the current ETag to be changed', async () => {
      const send = { messages_per_day: 5 };
      expect((await fixture.call('PATCH', path, { send })).status).toBe(428);
      expect((await fixture.call('PUT', path, { send })).status).toBe(428);
      expect((await fixture.call('PATCH', path, { send, ifMatch: '"v99"' })).status).toBe(412);
      expect((await fixture.call('PATCH', path, { send, ifMatch: '"vx"' })).status).toBe(412);
    });

    it('keep unknown fields, and return defaults', async () => {
      const { etag } = await fixture.call('GET', path);
      const send = { ai_provider: 'rules', theme: { color: 'red', size: 1 } };
      const replaced = await fixture.call('PUT', path, { send, ifMatch: etag });
      expect(replaced.body).toEqual({ ...defaultSettings, ...send });
      const patch = { theme: { size: null }, ai_provider: null, enabled_channels: ['slack'] };
      const patched = await fixture.call('PATCH', path, { send: patch, ifMatch: replaced.etag });
      const expected = { ...defaultSettings, theme: { color: 'red' }, enabled_channels: ['slack'] };
      expect(patched.body).toEqual(expected);
      expect((await fixture.call('GET', path)).body).toEqual(expected);
    });

    it('lose no update', async () => {
      const { etag } = await fixture.call('GET', path);
      const writes = Array.from({ length: 8 }, (_, i) =>
        fixture.call('PATCH', path, { send: { messages_per_day: i }, ifMatch: etag }),
      );
      const statuses = (await Promise.all(writes)).map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array(7).fill(412)]);
    });

    it('are not changed by a new name, and vice versa', async () => {
      const { etag } = await fixture.call('GET', path);
      await fixture.call('PATCH', '/v1/tenants/settled', { send: { name: 'Other' } });
      const send = { max_conversation_history: 7 };
      expect((await fixture.call('PATCH', path, { send, ifMatch: etag })).status).toBe(200);
      expect((await fixture.call('GET', '/v1/tenants/settled')).body.name).toBe('Other');
    });

    it.each([
      { max_tokens_per_message: 0 },
      { max_tokens_per_message: '4096' },
      { enabled_channels: 'slack' },
      { messages_per_day: -1 },
      { system_prompt_override: 'x'.repeat(20_001) },
      { more: 'x'.repeat(70_000) },
    ])('refuse %o', async send => {
      const { etag } = await fixture.call('GET', path);
      expect((await fixture.call('PATCH', path, { send, ifMatch: etag })).status).toBe(400);
    });

    it('stay within their limits when they are merged', async () => {
      const { etag } = await fixture.call('GET', path);
      const first = await fixture.call('PATCH', path, { send: { a: 'x'.repeat(40_000) }, ifMatch: etag });
      const second = await fixture.call('PATCH', path, {
        send: { b: 'x'.repeat(40_000) },
        ifMatch: first.etag,
      });
      expect(second).toMatchObject({ status: 413, body: { code: 'tenants.too_large' } });
    });

    it('are read with defaults if an older writer stored invalid values', async () => {
      const settings = '{"ai_model":5,"messages_per_day":7,"own":true}';
      await fixture.target.client.update({
        TableName: 'tenants',
        Key: { pk: 'TENANT#settled', sk: 'META' },
        UpdateExpression: 'SET settings = :s',
        ExpressionAttributeValues: { ':s': settings },
      });
      const expected = { ...defaultSettings, messages_per_day: 7, own: true };
      expect((await fixture.call('GET', path)).body).toEqual(expected);
    });
  });
});
