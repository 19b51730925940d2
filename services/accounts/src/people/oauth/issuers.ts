import { createRecentMap, parseUrl } from '@stak/kit';
import type { Outbound } from '@stak/outbound';
import type { Base } from '../../deps.ts';
import { isLoopback } from '../../loopback.ts';
import { attemptCookie } from './attempt-cookie.ts';
import { type AttemptOf, attemptOver, type Linker, startAttempt, takeAttempt } from './attempts.ts';
import { refuse, socialErrors } from './errors.ts';
import * as limits from './limits.ts';
import { createOpenid, type OpenidProvider } from './openid.ts';
import type { Identity } from './provider.ts';
import { guardedFetch } from './provider-client.ts';

// The organisation, or the tenant, whose provider it is.
export type IssuerOwner = Required<AttemptOf> & { name: 'organisation' | 'tenant' };

export type IssuerClient = {
  issuer: string;
  clientId: string;
  version: string; // changes with every setting
  openSecret(): string;
};

type Callback = { url: string; cookie: string | undefined };
type CameBack = { identity: Identity; returnTo: string; linker?: Linker };

// Sign-in through OpenID Connect providers that customers chose. All requests to them are guarded, including those to
// addresses from their discovery documents.
export type Issuers = {
  problems: readonly string[]; // the codes of what `start` throws
  // Why the issuer cannot be used; undefined if it can.
  refusalOf(issuer: string): string | undefined;
  // Whether the issuer can be reached and has a valid discovery document.
  test(client: IssuerClient): Promise<{ isWorking: boolean; detail: string }>;
  // Returns the provider's address to redirect to, and the cookie to set.
  start(
    owner: IssuerOwner,
    client: IssuerClient,
    attempt: { redirectUri: string; returnTo: string; linker?: Linker },
  ): Promise<{ url: string; cookie: string }>;
  // Returns the person who was redirected to `redirectUri`. The attempt is used up first, even if the sign-in fails.
  finish(
    owner: IssuerOwner,
    findClient: () => Promise<IssuerClient>,
    redirectUri: string,
    callback: Callback,
  ): Promise<CameBack>;
  clearCookie: string;
};

type Deps = Pick<Base, 'store' | 'clock'> & { outbound: Outbound | undefined; publicUrl: string };

export function createIssuers({ store, clock, outbound, publicUrl }: Deps): Issuers {
  const cookie = attemptCookie(publicUrl);
  // Cached with their discovery documents until their settings change.
  const providers = createRecentMap<string, OpenidProvider>(limits.providersKept);
  const open = ({ issuer, clientId, openSecret }: IssuerClient): OpenidProvider => {
    if (!outbound)
      throw refuse('accounts.provider_not_configured', 'This server does not connect to other providers.');
    return createOpenid(
      { clock },
      {
        issuer,
        clientId,
        clientSecret: openSecret(),
        title: 'Your organisation’s provider',
        fetch: guardedFetch(outbound),
      },
    );
  };
  const providerOf = ({ name, organisationId }: IssuerOwner, client: IssuerClient): OpenidProvider => {
    const key = `${name} ${organisationId} ${client.version}`;
    const provider = providers.get(key) ?? open(client);
    providers.set(key, provider);
    return provider;
  };

  return {
    problems: ['accounts.provider_failed', 'accounts.provider_not_configured'],
    refusalOf(issuer) {
      if (!isIssuer(issuer)) return 'It is not an https address without a query.';
      return outbound?.check(issuer)?.message;
    },
    async test(client) {
      try {
        // Skips the cache.
        await open(client).check();
        return { isWorking: true, detail: `People will sign in at ${client.issuer}.` };
      } catch (error) {
        return { isWorking: false, detail: whyNot(error) };
      }
    },
    async start(owner, client, attempt) {
      const { secret, url } = await startAttempt({ store, clock }, providerOf(owner, client), {
        ...owner,
        ...attempt,
      });
      return { url: url.href, cookie: cookie.set(secret) };
    },
    async finish(owner, findClient, redirectUri, callback) {
      const { search, searchParams } = new URL(callback.url);
      const secret = cookie.read(callback.cookie);
      const state = searchParams.get('state') ?? undefined;
      const { secrets, ...attempt } = await takeAttempt({ store }, { ...owner, secret, state });
      if (!searchParams.has('code') && !searchParams.has('error')) throw attemptOver();
      const client = await findClient();
      const url = new URL(redirectUri);
      url.search = search;
      return { ...attempt, identity: await providerOf(owner, client).identify(url, secrets) };
    },
    clearCookie: cookie.clear(),
  };
}

export function isIssuer(text: string): boolean {
  const url = parseUrl(text);
  if (!url) return false;
  const { protocol, username, password, search, hash } = url;
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(text));
  return isSafe && `${username}${password}${search}${hash}` === '';
}

// The provider belongs to the customer, so their admins may see the cause.
function whyNot(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  return socialErrors.includes(error) && error.code === 'accounts.provider_not_configured'
    ? error.message
    : `The issuer did not respond as expected: ${message.slice(0, limits.failureChars)}`;
}
