import { expect } from 'vitest';
import type { Fixture } from './tenants-fixture.ts';

// The portal of Acme, as Ann's browser and her mail see it.

export async function openAcme({ call }: Pick<Fixture, 'call'>): Promise<void> {
  await call('POST', '/v1/tenants', { send: { tenant_id: 'acme', name: 'Acme', status: 'active' } });
  await call('PATCH', '/v1/tenants/acme/settings', { ifMatch: '*', send: { portal_sign_in: 'mail' } });
  const send = { user_id: 'ann', display_name: 'Ann', email: 'Ann@example.com', role: 'admin' };
  await call('POST', '/v1/tenants/acme/users', { send });
}

export const cookieOf = (headers: Headers): string => headers.getSetCookie()[0]!.split(';')[0]!;

// Another text of the same form.
export const invent = (text: string): string => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;

export function createPortalCalls(getFixture: () => Fixture) {
  const post = (path: string, send: object, headers: Record<string, string> = {}) =>
    getFixture().call('POST', `/v1/portal/acme${path}`, { as: '', send, headers });

  // What the worker that sends mail does with the newest request, and what the mail holds then.
  async function deliver() {
    const request = getFixture().mails.findLast(mail => mail.kind === 'tenant.sign_in_requested')!;
    const before = getFixture().mails.length;
    const steps = await getFixture().tenants.resolveSignIn(request);
    if (Object.keys(steps).length === 0) return undefined;
    await getFixture().commit(steps);
    const [mail] = getFixture().mails.slice(before);
    const [token = '', code = ''] = mail!.token!.split(' ');
    return { mail: mail!, token, code };
  }
  const ask = async (email = 'ann@example.com') => {
    const { status, body } = await post('/sign-in', { email });
    expect(status).toBe(202);
    return body.attempt as string;
  };
  const signIn = async () => {
    const attempt = await ask();
    const { code } = (await deliver())!;
    const answer = await post('/session', { attempt, code });
    expect(answer.status).toBe(201);
    return { token: answer.body.access_token as string, cookie: cookieOf(answer.headers), answer };
  };
  const refresh = (cookie: string) => post('/session/refresh', {}, { cookie });
  const me = (as: string) => getFixture().call('GET', '/v1/portal/acme/me', { as });
  return { post, deliver, ask, signIn, refresh, me };
}
