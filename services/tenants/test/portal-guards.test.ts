import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cookieOf, createPortalCalls, invent, openAcme } from './portal-fixture.ts';
import { type Fixture, openFixture } from './tenants-fixture.ts';

describe('the portal', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await openFixture();
    await openAcme(fixture);
  });
  afterEach(() => fixture.target.close());
  const { post, deliver, ask, signIn, refresh, me } = createPortalCalls(() => fixture);

  it('signs nobody in with an invented link, attempt or invitation whose id is known', async () => {
    const attempt = await ask();
    const { code, token } = (await deliver())!;
    const forge = (given: string) => {
      const [id, secret] = given.split('.') as [string, string];
      return `${id}.${invent(secret)}`;
    };
    expect((await post('/session', { token: forge(token) })).status).toBe(403);
    // Nor are the tries of the browser that has the attempt used up.
    for (let n = 0; n < 6; n++)
      expect((await post('/session', { attempt: forge(attempt), code })).status).toBe(403);
    expect((await post('/session', { attempt, code })).status).toBe(201);

    const { body } = await fixture.call('POST', '/v1/tenants/acme/invitations', {
      send: { email: 'bo@example.com', mail: true },
    });
    const parts = (body.token as string).split('.');
    const forged = [...parts.slice(0, -1), invent(parts.at(-1)!)].join('.');
    const display_name = 'Bo';
    expect((await post('/join', { token: forged, display_name })).status).toBe(404);
    expect((await post('/join', { token: body.token, display_name })).status).toBe(201);
  });

  it('signs nobody in who is asked while the tenant is suspended', async () => {
    const attempt = await ask();
    const { code, token } = (await deliver())!;
    const send = { status: 'suspended' };
    expect((await fixture.call('PATCH', '/v1/tenants/acme', { ifMatch: '*', send })).status).toBe(200);
    expect((await post('/session', { attempt, code })).status).toBe(403);
    expect((await post('/session', { token })).status).toBe(403);
  });

  // Makes something else happen before the next transaction, or the next update, of what it matches.
  function beforeNext(operation: 'transactWrite' | 'update', text: string, act: () => Promise<unknown>) {
    const { client } = fixture.target;
    const original = client[operation] as (input: never) => Promise<unknown>;
    let isMeant = true;
    Object.assign(client, {
      [operation]: async (input: never) => {
        if (isMeant && JSON.stringify(input).includes(text)) {
          isMeant = false;
          await act();
        }
        return original(input);
      },
    });
  }

  it('gives no rights that were taken from the person in the same moment', async () => {
    await ask();
    const { token } = (await deliver())!;
    const send = { role: 'member' };
    beforeNext('transactWrite', 'SESSION#', () =>
      fixture.call('PATCH', '/v1/tenants/acme/users/ann', { ifMatch: '*', send }),
    );
    expect((await post('/session', { token })).status).toBe(403);
  });

  const inviteBo = async () =>
    (
      await fixture.call('POST', '/v1/tenants/acme/invitations', {
        send: { email: 'bo@example.com', role: 'admin' },
      })
    ).body as { token: string; user_id: string };

  it('lets nobody back in by an invitation after they were removed', async () => {
    const { token } = await inviteBo();
    const send = { user_id: 'bo', display_name: 'Bo', email: 'Bo@example.com' };
    expect((await fixture.call('POST', '/v1/tenants/acme/users', { send })).status).toBe(201);
    await fixture.call('DELETE', '/v1/tenants/acme/users/bo', { ifMatch: '*' });
    expect((await post('/join', { token, display_name: 'Bo' })).status).toBe(404);
  });

  it('opens no session for somebody who is removed while they join', async () => {
    const { token, user_id } = await inviteBo();
    beforeNext('transactWrite', 'SESSION#', () =>
      fixture.call('DELETE', `/v1/tenants/acme/users/${user_id}`, { ifMatch: '*' }),
    );
    expect((await post('/join', { token, display_name: 'Bo' })).status).toBe(404);
  });

  it('ends a session whose cookie comes late, after two newer ones', async () => {
    const { cookie } = await signIn();
    let newest = '';
    beforeNext('update', 'generation', async () => {
      const second = cookieOf((await refresh(cookie)).headers);
      newest = cookieOf((await refresh(second)).headers);
    });
    expect((await refresh(cookie)).status).toBe(401);
    expect((await refresh(newest)).status).toBe(401);
  });

  it('is left by the holder of the cookie only', async () => {
    const { cookie, token } = await signIn();
    const [name, value] = cookie.split('=') as [string, string];
    const [user, session, generation, code] = value.split('.') as [string, string, string, string];
    const forged = `${name}=${[user, session, generation, invent(code)].join('.')}`;
    await fixture.call('DELETE', '/v1/portal/acme/session', { as: '', headers: { cookie: forged } });
    expect((await me(token)).status).toBe(200);
    expect((await refresh(cookie)).status).toBe(200);
  });
});
