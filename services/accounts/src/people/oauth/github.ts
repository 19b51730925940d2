import type { Configuration, CustomFetch } from 'openid-client';
import { z } from 'zod';
import { isLoopback } from '../../loopback.ts';
import * as limits from './limits.ts';
import { type Identity, type Provider, providerTitles } from './provider.ts';
import { boundedFetch, explainProvider, loadClient, type OpenidClient } from './provider-client.ts';

export type GithubSettings = {
  clientId: string;
  clientSecret: string;
  url?: string; // of GitHub Enterprise Server, if it is not github.com
  apiUrl?: string;
  timeoutMs?: number;
};

const title = providerTitles.github;

const person = z.object({ id: z.int().positive(), login: z.string(), name: z.string().nullish() });
const addresses = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

// GitHub has OAuth 2 without OpenID Connect, so the person is read from its API. The access token is not stored.
export function createGithub(settings: GithubSettings): Provider {
  const { clientId, clientSecret, url = 'https://github.com', apiUrl = 'https://api.github.com' } = settings;
  let configuration: Configuration | undefined;

  const configure = (client: OpenidClient): Configuration => {
    if (configuration) return configuration;
    const server = {
      issuer: `${url}/login/oauth`, // the callback's `iss`
      authorization_endpoint: `${url}/login/oauth/authorize`,
      token_endpoint: `${url}/login/oauth/access_token`,
    };
    const made = new client.Configuration(server, clientId, clientSecret);
    made.timeout = (settings.timeoutMs ?? limits.providerMs) / 1000;
    made[client.customFetch] = honestFetch;
    if (isLoopback(url)) client.allowInsecureRequests(made);
    configuration = made;
    return made;
  };

  const ask = async <S extends z.ZodType>(client: OpenidClient, token: string, path: string, schema: S) => {
    const headers = new Headers({
      Accept: 'application/vnd.github+json',
      'User-Agent': 'stak', // GitHub refuses requests without one
      'X-GitHub-Api-Version': '2022-11-28',
    });
    const at = new URL(`${apiUrl}${path}`);
    const response = await client.fetchProtectedResource(configure(client), token, at, 'GET', null, headers);
    if (!response.ok) throw new Error(`GET ${path} answers ${response.status}`);
    return schema.parse(await response.json());
  };

  return {
    async authorizationUrl({ state, verifier }, redirectUri) {
      const client = await loadClient();
      return client.buildAuthorizationUrl(configure(client), {
        redirect_uri: redirectUri,
        scope: 'read:user user:email',
        state,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    },
    async identify(callbackUrl, { state, verifier }) {
      const client = await loadClient();
      try {
        const { access_token } = await client.authorizationCodeGrant(configure(client), callbackUrl, {
          expectedState: state,
          pkceCodeVerifier: verifier,
        });
        const [who, emails] = await Promise.all([
          ask(client, access_token, '/user', person),
          ask(client, access_token, '/user/emails?per_page=100', addresses),
        ]);
        return identityOf(who, emails);
      } catch (error) {
        throw explainProvider(client, title, error);
      }
    },
  };
}

export function identityOf(who: z.infer<typeof person>, emails: z.infer<typeof addresses>): Identity {
  const primary = emails.find(email => email.primary);
  return {
    id: String(who.id),
    email: primary?.email,
    isEmailVerified: primary?.verified ?? false,
    name: who.name ?? who.login,
  };
}

// GitHub responds to an invalid code with status 200 and a non-standard error. openid-client expects the standard's.
const honestFetch: CustomFetch = async (url, options) => {
  const response = await boundedFetch(url, options);
  if (!response.ok || !url.endsWith('/login/oauth/access_token')) return response;
  const body: unknown = await response.clone().json();
  if (typeof body !== 'object' || body === null || !('error' in body)) return response;
  const error = body.error === 'bad_verification_code' ? 'invalid_grant' : body.error;
  return Response.json({ ...body, error }, { status: 400 });
};
