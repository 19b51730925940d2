import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';
import { openLoopback, readText } from './loopback-stub.ts';

export type GooglePerson = { email?: string; email_verified?: boolean; name?: string };

// Changes what the provider answers with tokens, and what it says of itself.
type Forge = (answer: Record<string, unknown>) => Promise<Record<string, unknown>>;
const isForged = /^\/(token|\.well-known\/openid-configuration)$/;

// A real OpenID provider in Google's place. Whom the browser is signed in as there, its `x-person` header says.
export async function openGoogle({ redirectUri }: { redirectUri: string }) {
  const people = new Map<string, GooglePerson>();
  const forgery: { forge?: Forge } = {};
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'test', use: 'sig', alg: 'RS256' };
  const client = { clientId: 'google-client', clientSecret: 'google-secret' };

  const loopback = await openLoopback(url => {
    const provider = new Provider(url, {
      clients: [
        {
          client_id: client.clientId,
          client_secret: client.clientSecret,
          redirect_uris: [redirectUri],
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      jwks: { keys: [key] },
      cookies: { keys: ['for tests only'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      conformIdTokenClaims: false, // Google's ID tokens have the address in them, too
      features: { devInteractions: { enabled: false } },
      pkce: { required: () => true },
      ttl: { Interaction: 60, Grant: 60, Session: 60, AuthorizationCode: 60, AccessToken: 60, IdToken: 60 },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id) }) }),
      async loadExistingGrant({ oidc }) {
        const { accountId } = oidc.session;
        const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
    const serve = provider.callback();
    return async (request, response) => {
      const { forge } = forgery;
      if (forge && !request.headers['x-unforged'] && isForged.test(request.url ?? '')) {
        const { method = 'GET', headers } = request;
        const sent = {
          'X-Unforged': 'yes',
          'Content-Type': headers['content-type'] ?? '',
          Authorization: headers.authorization ?? '',
        };
        const body = method === 'POST' ? await readText(request) : undefined;
        const answer = await fetch(new URL(request.url!, url), { method, headers: sent, body });
        const forged = await forge((await answer.json()) as Record<string, unknown>);
        return response
          .writeHead(answer.status, { 'Content-Type': 'application/json' })
          .end(JSON.stringify(forged));
      }
      if (!request.url?.startsWith('/interaction/')) return serve(request, response);
      const person = request.headers['x-person'];
      const result =
        typeof person === 'string' ? { login: { accountId: person } } : { error: 'access_denied' };
      return provider.interactionFinished(request, response, result);
    };
  });
  return Object.assign(loopback, { people, client, privateKey, publicKey, forgery });
}
