import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fixture, openFixture, targets } from './tenants-fixture.ts';

// Users that another program writes exactly as the document describes.

describe.each(Object.entries(targets))('users of another program, %s', (_, make) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture(make);
    await fixture.call('POST', '/v1/tenants', {
      send: { tenant_id: 'acme', name: 'Acme', status: 'active' },
    });
  });
  afterAll(() => fixture.target.close());

  const users = '/v1/tenants/acme/users';
  const put = (user_id: string, more: object) =>
    fixture.target.client.put({
      TableName: 'tenants',
      Item: {
        pk: 'TENANT#acme',
        sk: `USER#${user_id}`,
        user_id,
        display_name: 'Ann',
        role: 'member',
        channel_identities: '{}',
        ...more,
      },
    });
  const find = async (query: string) => {
    await fixture.clock.advance(60_000);
    const { status, body } = await fixture.call('GET', `${users}?${query}`);
    expect(status).toBe(200);
    return body.data.map((one: { user_id: string }) => one.user_id);
  };

  it('are found by e-mail, by identity and by id', async () => {
    await put('by-mail', { email: 'Ann@example.com' });
    expect(await find('email=ann@example.com')).toEqual(['by-mail']);
    await put('by-identity', { channel_identities: '{"teams":"aad-id","slack":"U12345"}' });
    expect(await find('channel=slack&identity=U12345')).toEqual(['by-identity']);
    await put('by-id', { email: 'cleo@example.com' });
    const { body, etag } = await fixture.call('GET', `${users}/by-id`);
    expect(body).toMatchObject({ tenant_id: 'acme', preferences: {}, custom_properties: {}, version: 1 });
    expect(etag).toBe('"v1"');
    expect(await find('email=cleo@example.com')).toEqual(['by-id']);
    expect(await find('email=nobody@example.com')).toEqual([]);
  });

  it('are listed, changed and deleted', async () => {
    await put('listed', { email: 'listed@example.com' });
    expect((await fixture.call('GET', users)).body.data).toContainEqual(
      expect.objectContaining({ user_id: 'listed', version: 1 }),
    );
    await put('changed', { email: 'changed@example.com' });
    const send = { email: 'new@example.com', display_name: 'Bea' };
    expect((await fixture.call('PATCH', `${users}/changed`, { send, ifMatch: '"v1"' })).body).toMatchObject({
      ...send,
      version: 2,
    });
    expect(await find('email=changed@example.com')).toEqual([]);
    expect(await find('email=new@example.com')).toEqual(['changed']);
    expect((await fixture.call('DELETE', `${users}/changed`, { ifMatch: '"v2"' })).status).toBe(204);
    expect(await find('email=new@example.com')).toEqual([]);
  });

  it('have an address that others cannot take once they are known, and take none from others', async () => {
    await put('first', { email: 'mine@example.com' });
    await fixture.call('GET', `${users}/first`);
    const send = { user_id: 'second', display_name: 'X', email: 'mine@example.com' };
    expect((await fixture.call('POST', users, { send })).status).toBe(409);
    await put('third', { email: 'mine@example.com', channel_identities: '{"slack":"U3"}' });
    const third = (await fixture.call('GET', `${users}/third`)).body;
    expect(third).toMatchObject({ version: 1, channel_identities: { slack: 'U3' } });
    expect(third).not.toHaveProperty('email');
    await fixture.call('DELETE', `${users}/third`, { ifMatch: '"v1"' });
    expect(await find('email=mine@example.com')).toEqual(['first']);
    expect(await find('channel=slack&identity=U3')).toEqual([]);
  });

  it('have an address that others cannot take before they are known', async () => {
    const invite = (email: string) =>
      fixture.call('POST', '/v1/tenants/acme/invitations', { send: { email, role: 'member' } });
    const { token } = (await invite('invited@example.com')).body;
    await put('unread', { email: 'Unread@example.com', channel_identities: '{"slack":"U9"}' });
    await put('uninvited', { email: 'invited@example.com' });
    await fixture.clock.advance(60_000);
    const create = (more: object) => fixture.call('POST', users, { send: { display_name: 'X', ...more } });
    const codes = [
      await create({ email: 'unread@example.com' }),
      await create({ channel_identities: { slack: 'U9' } }),
      await invite('unread@example.com'),
      await fixture.call('POST', '/v1/invitations/accept', { as: '', send: { token, display_name: 'X' } }),
    ].map(({ body }) => body.code);
    const [email, identity] = ['tenants.email_taken', 'tenants.identity_taken'];
    expect(codes).toEqual([email, identity, email, email]);

    const { body: other } = await create({});
    await put('later', { email: 'later@example.com' });
    await fixture.clock.advance(60_000);
    const send = { email: 'later@example.com' };
    const changed = await fixture.call('PATCH', `${users}/${other.user_id}`, { send, ifMatch: '"v1"' });
    expect(changed.body.code).toBe(email);
    for (const user_id of ['unread', 'uninvited', 'later'])
      expect((await fixture.call('GET', `${users}/${user_id}`)).body.version).toBe(1);
  });

  it('keep their own address and identities when the other program writes them again', async () => {
    const item = { email: 'again@example.com', channel_identities: '{"slack":"U7"}' };
    await put('again', item);
    await fixture.call('GET', `${users}/again`);
    await put('again', { ...item, role: 'admin' });
    expect((await fixture.call('GET', `${users}/again`)).body).toMatchObject({
      email: 'again@example.com',
      channel_identities: { slack: 'U7' },
      role: 'admin',
      version: 1,
    });
    expect(await find('email=again@example.com')).toEqual(['again']);
    expect(await find('channel=slack&identity=U7')).toEqual(['again']);
  });

  it('reserve nothing any more that the other program took from them', async () => {
    await put('moved', { email: 'before@example.com', channel_identities: '{"slack":"U20"}' });
    await put('gone', { email: 'gone@example.com' });
    for (const user_id of ['moved', 'gone']) await fixture.call('GET', `${users}/${user_id}`);
    await put('moved', { email: 'after@example.com' });
    await fixture.target.client.delete({
      TableName: 'tenants',
      Key: { pk: 'TENANT#acme', sk: 'USER#gone' },
    });
    await put('heir', { email: 'gone@example.com' });
    expect(await find('email=gone@example.com')).toEqual(['heir']);
    expect(await find('email=after@example.com')).toEqual(['moved']);
    expect(await find('email=before@example.com')).toEqual([]);

    const send = { display_name: 'X', email: 'before@example.com' };
    expect((await fixture.call('POST', users, { send })).status).toBe(201);
    const { body } = await fixture.call('POST', users, { send: { display_name: 'Y' } });
    const patch = { send: { channel_identities: { slack: 'U20' } }, ifMatch: '"v1"' };
    expect((await fixture.call('PATCH', `${users}/${body.user_id}`, patch)).status).toBe(200);
    expect(await find('channel=slack&identity=U20')).toEqual([body.user_id]);
    const again = { send: { display_name: 'Z', email: 'after@example.com' } };
    expect((await fixture.call('POST', users, again)).body.code).toBe('tenants.email_taken');
  });

  it('are adopted where the other program writes null or nothing for what they lack', async () => {
    await put('nulls', { email: null, channel_identities: null });
    await put('empty', { email: '' });
    for (const user_id of ['nulls', 'empty']) {
      const { status, body } = await fixture.call('GET', `${users}/${user_id}`);
      expect([status, body.version, body.email]).toEqual([200, 1, undefined]);
    }
  });

  it('are left alone if they are not what the document describes', async () => {
    await put('strange', { role: 'emperor', email: 'strange@example.com' });
    expect((await fixture.call('GET', `${users}/strange`)).status).toBe(404);
    expect(await find('email=strange@example.com')).toEqual([]);
  });
});
