import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fixture, openFixture, openProcess, targets } from './tenants-fixture.ts';

describe.each(Object.entries(targets))('users, %s', (_, make) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture(make);
    for (const tenant_id of ['acme', 'other'])
      await fixture.call('POST', '/v1/tenants', { send: { tenant_id, name: 'Acme', status: 'active' } });
  });
  afterAll(() => fixture.target.close());

  const users = '/v1/tenants/acme/users';
  const create = (send: object, path = users) =>
    fixture.call('POST', path, { send: { display_name: 'X', ...send } });
  const find = async (query: string) => {
    const { body } = await fixture.call('GET', `${users}?${query}`);
    return body.data.map((one: { user_id: string }) => one.user_id);
  };

  it('are stored as documented, and are objects in the API', async () => {
    const send = {
      user_id: 'admin',
      email: 'Ann@Example.com',
      display_name: 'Ann',
      role: 'admin',
      channel_identities: { teams: 'aad-id', slack: 'U12345' },
      preferences: { theme: 'dark' },
      custom_properties: { team: 7 },
    };
    const { status, body, headers } = await create(send);
    expect(status).toBe(201);
    expect(body).toMatchObject(send);
    expect(headers.get('location')).toBe(`${users}/admin`);
    const key = { pk: 'TENANT#acme', sk: 'USER#admin' };
    const { Item } = await fixture.target.client.get({ TableName: 'tenants', Key: key });
    expect(Item).toMatchObject({
      ...key,
      user_id: 'admin',
      email: 'Ann@Example.com',
      role: 'admin',
      channel_identities: '{"teams":"aad-id","slack":"U12345"}',
      preferences: '{"theme":"dark"}',
      custom_properties: '{"team":7}',
    });
    expect((await fixture.call('GET', `${users}/admin`)).body).toEqual(body);
  });

  it('are found by e-mail and by identity', async () => {
    await create({ user_id: 'found', email: 'found@example.com', channel_identities: { slack: 'UF' } });
    expect(await find('email=FOUND@example.com')).toEqual(['found']);
    expect(await find('channel=slack&identity=UF')).toEqual(['found']);
    expect(await find('email=nobody@example.com')).toEqual([]);
    expect(await find('channel=teams&identity=UF')).toEqual([]);
    expect((await fixture.call('GET', `${users}?channel=slack`)).status).toBe(400);
    const both = `${users}?email=a@example.com&channel=slack&identity=UF`;
    expect((await fixture.call('GET', both)).status).toBe(400);
  });

  it('may have a channel named like a property of every object', async () => {
    const send = { user_id: 'odd', channel_identities: { constructor: 'U1' } };
    const { status, etag } = await create(send);
    expect(status).toBe(201);
    expect(await find('channel=constructor&identity=U1')).toEqual(['odd']);
    const channel_identities = { constructor: null };
    const changed = await fixture.call('PATCH', `${users}/odd`, {
      send: { channel_identities },
      ifMatch: etag,
    });
    expect(changed).toMatchObject({ status: 200, body: { channel_identities: {} } });
    expect(await find('channel=constructor&identity=U1')).toEqual([]);
  });

  it('are listed page by page', async () => {
    const path = '/v1/tenants/other/users';
    for (const user_id of ['a', 'b', 'c']) await create({ user_id }, path);
    const first = await fixture.call('GET', `${path}?limit=2`);
    const second = await fixture.call('GET', `${path}?limit=2&cursor=${first.body.next_cursor}`);
    const ids = [...first.body.data, ...second.body.data].map(one => one.user_id);
    expect([ids, second.body.next_cursor]).toEqual([['a', 'b', 'c'], null]);
    expect((await fixture.call('GET', `${users}?limit=2&cursor=${first.body.next_cursor}`)).status).toBe(400);
  });

  it('have a unique id, e-mail and identities', async () => {
    await create({ user_id: 'first', email: 'taken@example.com', channel_identities: { slack: 'UT' } });
    const codes = await Promise.all(
      [
        { user_id: 'first' },
        { user_id: 'second', email: 'TAKEN@example.com' },
        { user_id: 'second', channel_identities: { slack: 'UT' } },
      ].map(async send => (await create(send)).body.code),
    );
    expect(codes).toEqual(['tenants.user_exists', 'tenants.email_taken', 'tenants.identity_taken']);
    // Other tenants may use the same values.
    const elsewhere = { email: 'taken@example.com', channel_identities: { slack: 'UT' } };
    expect((await create(elsewhere, '/v1/tenants/other/users')).status).toBe(201);
  });

  it('give an address to one of many concurrent requests', async () => {
    const wanted = Array.from({ length: 8 }, (_, i) =>
      create({ user_id: `r${i}`, email: 'race@example.com' }),
    );
    const answers = await Promise.all(wanted);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    const winner = answers.find(({ status }) => status === 201)!.body.user_id;
    expect(await find('email=race@example.com')).toEqual([winner]);
  });

  it('move an identity between users only if it is free', async () => {
    const a = await create({ user_id: 'm-a', channel_identities: { slack: 'UM' } });
    const b = await create({ user_id: 'm-b' });
    const take = (etag: string) =>
      fixture.call('PATCH', `${users}/m-b`, { send: { channel_identities: { slack: 'UM' } }, ifMatch: etag });
    expect(await take(b.etag)).toMatchObject({ status: 409, body: { code: 'tenants.identity_taken' } });
    const letGo = { send: { channel_identities: { slack: null } }, ifMatch: a.etag };
    expect((await fixture.call('PATCH', `${users}/m-a`, letGo)).body.channel_identities).toEqual({});
    expect((await take(b.etag)).status).toBe(200);
    expect(await find('channel=slack&identity=UM')).toEqual(['m-b']);
  });

  it('are changed only by a caller that has read the latest version', async () => {
    const { etag } = await create({ user_id: 'edited', email: 'e@example.com', preferences: { a: 1, b: 2 } });
    const path = `${users}/edited`;
    const send = { email: null, preferences: { a: null, c: 3 }, role: 'admin' };
    expect((await fixture.call('PATCH', path, { send })).status).toBe(428);
    const changed = await fixture.call('PATCH', path, { send, ifMatch: etag });
    expect(changed).toMatchObject({
      status: 200,
      body: { preferences: { b: 2, c: 3 }, role: 'admin', version: 2 },
    });
    expect(changed.body).not.toHaveProperty('email');
    expect((await fixture.call('GET', path)).body).toEqual(changed.body);
    expect((await fixture.call('PATCH', path, { send, ifMatch: etag })).status).toBe(412);
    expect(await find('email=e@example.com')).toEqual([]);
    const racing = Array.from({ length: 6 }, (_, i) =>
      fixture.call('PATCH', path, { send: { email: `e${i}@example.com` }, ifMatch: changed.etag }),
    );
    const statuses = (await Promise.all(racing)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 412, 412, 412, 412, 412]);
  });

  it('release their locks when they are deleted', async () => {
    const send = { user_id: 'gone', email: 'gone@example.com', channel_identities: { slack: 'UG' } };
    const { etag } = await create(send);
    expect((await fixture.call('DELETE', `${users}/gone`, { ifMatch: '"v9"' })).status).toBe(412);
    expect((await fixture.call('DELETE', `${users}/gone`, { ifMatch: etag })).status).toBe(204);
    expect((await fixture.call('DELETE', `${users}/gone`)).status).toBe(404);
    expect((await create({ ...send, user_id: 'successor' })).status).toBe(201);
  });

  it('are created once per key, also by another process', async () => {
    const send = { display_name: 'Once', email: 'once@example.com' };
    const first = await fixture.call('POST', users, { send, key: 'same' });
    const later = openProcess(fixture.target, { clock: fixture.clock });
    expect(await later.call('POST', users, { send, key: 'same' })).toMatchObject({
      status: 201,
      body: first.body,
    });
  });

  it.each([
    { user_id: 'a#b' },
    { user_id: 'a/b' },
    { user_id: '' },
    { user_id: 'x'.repeat(129) },
    { email: 'not an address' },
    { email: `${'x'.repeat(250)}@example.com` },
    { display_name: '' },
    { display_name: 'a\u0000b' },
    { display_name: '\ud800' },
    { role: 'owner' },
    { channel_identities: { slack: 'a#b' } },
    { channel_identities: { 'Sl#ck': 'a' } },
    { channel_identities: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`c${i}`, 'x'])) },
    { preferences: { big: 'x'.repeat(17_000) } },
    { preferences: [] },
    { memory_summary: 'mine to write' },
  ])('refuse %o', async send => {
    expect(await create(send)).toMatchObject({
      status: 400,
      body: { code: expect.stringMatching(/^http\.(request|json)_invalid$/) },
    });
  });

  it('stay within their limits when they are merged', async () => {
    const { etag } = await create({ user_id: 'large', preferences: { a: 'x'.repeat(10_000) } });
    const send = { preferences: { b: 'x'.repeat(10_000) } };
    expect((await fixture.call('PATCH', `${users}/large`, { send, ifMatch: etag })).status).toBe(413);
  });
});
