import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { publicUrl, type Serving, tokenIn } from './open-accounts.ts';

export const resource = `${publicUrl}/mcp`;
export const callback = 'https://app.example/callback';
export const form = { 'content-type': 'application/x-www-form-urlencoded' };

export type AppTokens = { access_token: string; refresh_token: string; scope: string; expires_in: number };
type Asked = { clientId: string; verifier: string; request: string };
export type Query = Record<string, string>;
type Person = { as: string; userId: string; accountId: string };

export const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');
export const errorOf = async (answer: Response) => [
  answer.status,
  ((await answer.json()) as { error: string }).error,
];

// An app that registers and asks, people who decide, and what comes of it.
export function createApps(fixture: Serving) {
  const registering = (metadata: unknown, address?: string) =>
    fixture.call('POST', '/v1/oauth/register', {
      body: JSON.stringify(metadata),
      ...(address && { address }),
    });

  async function register(redirect_uris = [callback]): Promise<string> {
    const answer = await registering({ redirect_uris, client_name: 'Assistant' });
    expect(answer.status).toBe(201);
    return ((await answer.json()) as { client_id: string }).client_id;
  }

  // Returns the address that the browser is sent to, or the code of the problem.
  async function authorize(query: Query): Promise<URL | string> {
    const answer = await fixture.call('GET', `/v1/oauth/authorize?${new URLSearchParams(query)}`);
    if (answer.status !== 302) return fixture.codeOf(answer);
    return new URL(answer.headers.get('location')!, publicUrl);
  }

  async function ask(change: Query = {}): Promise<Asked> {
    const clientId = change.client_id ?? (await register());
    const verifier = randomBytes(32).toString('base64url');
    const page = await authorize({
      client_id: clientId,
      redirect_uri: callback,
      response_type: 'code',
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
      scope: 'read write',
      state: 'a state',
      resource,
      ...change,
    });
    expect(page).toMatchObject({ origin: publicUrl, pathname: '/console/authorize' });
    return { clientId, verifier, request: (page as URL).searchParams.get('request')! };
  }

  async function signedUp(email: string): Promise<Person> {
    const { access_token: as } = await fixture.signUp(email);
    const me = (await (await fixture.call('GET', '/v1/whoami', { as })).json()) as {
      userId: string;
      accountId: string;
    };
    return { as, ...me };
  }
  const deciding = (
    person: Pick<Person, 'as' | 'accountId'>,
    request: string,
    more: object = {},
    headers = {},
  ) =>
    fixture.call('POST', '/v1/apps/requests/decide', {
      as: person.as,
      send: { request, accountId: person.accountId, approved: true, ...more },
      headers,
    });

  async function approve(person: Person, request: string, more: object = {}): Promise<URL> {
    const answer = await deciding(person, request, more);
    expect(answer.status).toBe(200);
    return new URL(((await answer.json()) as { redirectTo: string }).redirectTo);
  }

  const exchanging = (fields: Query) =>
    fixture.call('POST', '/v1/oauth/token', { body: String(new URLSearchParams(fields)), headers: form });
  const redeeming = ({ clientId, verifier }: Asked, code: string, change: Query = {}) =>
    exchanging({
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      redirect_uri: callback,
      code_verifier: verifier,
      resource,
      ...change,
    });
  const refreshing = (client_id: string, refresh_token: string, more: Query = {}) =>
    exchanging({ grant_type: 'refresh_token', client_id, refresh_token, ...more });

  async function connect(person: Person, query: Query = {}, more: object = {}) {
    const asked = await ask(query);
    const code = (await approve(person, asked.request, more)).searchParams.get('code')!;
    const answer = await redeeming(asked, code);
    expect(answer.status).toBe(200);
    return { ...asked, code, ...((await answer.json()) as AppTokens) };
  }

  // A token makes this of its bearer: at /mcp, and without that.
  const bearer = (token: string, at: string | undefined = resource) =>
    fixture.authenticate({ token, requestId: 'req_1', address: undefined, fresh: true, resource: at });

  const trail = async (as: string): Promise<string[]> => {
    const answer = await fixture.call('GET', '/v1/audit?limit=50', { as });
    return ((await answer.json()) as { data: { action: string }[] }).data.map(({ action }) => action);
  };

  // Somebody who works in another's organisation.
  async function memberOf(owner: Person, email: string, role: string): Promise<Person> {
    const own = await signedUp(email);
    await fixture.call('POST', '/v1/invitations', { as: owner.as, send: { email, role } });
    const mail = (await fixture.mailsTo(email)).find(({ subject }) => subject.startsWith('Join'));
    const token = tokenIn(mail);
    await fixture.call('POST', '/v1/auth/invitation/accept', { as: own.as, send: { token } });
    const switched = await fixture.call('POST', '/v1/auth/switch', {
      as: own.as,
      send: { accountId: owner.accountId, cookie: false },
    });
    expect(switched.status).toBe(200);
    const { access_token } = (await switched.json()) as AppTokens;
    return { ...own, as: access_token, accountId: owner.accountId };
  }

  return {
    registering,
    register,
    authorize,
    ask,
    signedUp,
    deciding,
    approve,
    redeeming,
    refreshing,
    connect,
    bearer,
    trail,
    memberOf,
  };
}
