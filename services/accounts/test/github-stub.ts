import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { openLoopback, readText } from './loopback-stub.ts';

export type GithubPerson = {
  id: number;
  login: string;
  name?: string | null;
  emails: { email: string; primary: boolean; verified: boolean }[];
};

type Grant = { person: string; challenge: string; redirectUri: string };
type Answer = { status: number; body: unknown; location?: string };

// The endpoints of GitHub that a sign-in uses, as GitHub answers them: with PKCE, with `iss`, and with 200 for a
// refused code. Whom the browser is signed in as there, its `x-person` header says.
export async function openGithub() {
  const people = new Map<string, GithubPerson>();
  const client = { clientId: 'github-client', clientSecret: 'github-secret' };
  const codes = new Map<string, Grant>();
  const tokens = new Map<string, string>();

  const authorize = (query: URLSearchParams, person: unknown, issuer: string): Answer => {
    const redirectUri = query.get('redirect_uri') ?? '';
    const back = new URL(redirectUri);
    back.searchParams.set('state', query.get('state') ?? '');
    back.searchParams.set('iss', issuer);
    if (typeof person !== 'string') back.searchParams.set('error', 'access_denied');
    else {
      const code = randomUUID();
      const challenge = query.get('code_challenge') ?? '';
      if (query.get('code_challenge_method') !== 'S256') return { status: 400, body: 'PKCE is missing' };
      codes.set(code, { person, challenge, redirectUri });
      back.searchParams.set('code', code);
    }
    return { status: 302, body: '', location: back.href };
  };

  const redeem = (form: URLSearchParams): Answer => {
    const refused = (error: string) => ({ status: 200, body: { error, error_description: 'No.' } });
    if (form.get('client_id') !== client.clientId || form.get('client_secret') !== client.clientSecret)
      return refused('incorrect_client_credentials');
    const code = form.get('code') ?? '';
    const grant = codes.get(code);
    codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant?.challenge !== challenge) return refused('bad_verification_code');
    if (grant.redirectUri !== form.get('redirect_uri')) return refused('redirect_uri_mismatch');
    const token = `gho_${randomUUID()}`;
    tokens.set(token, grant.person);
    return {
      status: 200,
      body: { access_token: token, token_type: 'bearer', scope: 'read:user,user:email' },
    };
  };

  const api = (path: string, { headers }: IncomingMessage): Answer => {
    const person = people.get(tokens.get(headers.authorization?.replace(/^bearer /i, '') ?? '') ?? '');
    if (!person || !headers['user-agent']) return { status: 401, body: { message: 'Bad credentials' } };
    const { emails, ...profile } = person;
    return { status: 200, body: path === '/user' ? profile : emails };
  };

  const loopback = await openLoopback(url => async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    let answer: Answer = { status: 404, body: {} };
    if (pathname === '/login/oauth/authorize')
      answer = authorize(searchParams, request.headers['x-person'], `${url}/login/oauth`);
    if (pathname === '/login/oauth/access_token')
      answer = redeem(new URLSearchParams(await readText(request)));
    if (pathname === '/user' || pathname === '/user/emails') answer = api(pathname, request);
    response.writeHead(answer.status, {
      'Content-Type': 'application/json',
      ...(answer.location && { Location: answer.location }),
    });
    response.end(JSON.stringify(answer.body));
  });
  return Object.assign(loopback, { people, client });
}
