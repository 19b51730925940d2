import { endpoint } from '@stak/http';
import type { Audit } from '../../audit.ts';
import type { Base } from '../../deps.ts';
import type { Profile } from '../../main-table.ts';
import type { Outbox } from '../../notices/outbox.ts';
import { originOf } from '../../origin.ts';
import type { Users } from '../../users/users.ts';
import type { SessionOrigin } from '../credentials/owner.ts';
import type { Browser } from '../sessions/browser.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { attemptCookie } from './attempt-cookie.ts';
import { attemptOver, startAttempt, takeAttempt } from './attempts.ts';
import { refuse } from './errors.ts';
import { createGithub, type GithubSettings } from './github.ts';
import { hasWayIn, unlinkIdentity } from './identities.ts';
import { createGoogle, type GoogleSettings } from './openid.ts';
import { type Provider, type ProviderName, providerNames, providerTitles } from './provider.ts';
import { type ReturnSettings, resolveReturnTo } from './return-to.ts';
import { socialRoutes as routes } from './routes.ts';
import { link, signIn } from './sign-in.ts';

export type SocialSignInDeps = Base & {
  users: Users;
  sessions: Sessions;
  audit: Audit;
  outbox: Outbox;
  browser: Pick<Browser, 'answer'>;
  proveOwner(signed: SessionOrigin, password: string | undefined): Promise<unknown>;
  pages: ReturnSettings;
  github?: GithubSettings;
  google?: GoogleSettings;
};

export function createSocialSignIn(deps: SocialSignInDeps) {
  const { pages, browser } = deps;
  const cookie = attemptCookie(pages.publicUrl);
  const providers: Partial<Record<ProviderName, Provider>> = {
    ...(deps.github && { github: createGithub(deps.github) }),
    ...(deps.google && { google: createGoogle(deps, deps.google) }),
  };
  const configured = providerNames.filter(name => providers[name]);

  const providerOf = (name: ProviderName): Provider => {
    const provider = providers[name];
    if (provider) return provider;
    throw refuse(
      'accounts.provider_not_configured',
      `This server has no sign-in with ${providerTitles[name]}.`,
    );
  };
  const redirectUriOf = (name: ProviderName): string =>
    new URL(`/v1/auth/${name}/callback`, pages.publicUrl).href;

  const api = [
    endpoint(routes.providers, c => c.json({ data: configured }, 200)),

    endpoint(routes.start, async c => {
      const { provider: name } = c.req.valid('param');
      const provider = providerOf(name);
      const returnTo = resolveReturnTo(c.req.valid('query').return_to, pages);
      const redirectUri = redirectUriOf(name);
      const { secret, url } = await startAttempt(deps, provider, { name, redirectUri, returnTo });
      c.header('Set-Cookie', cookie.set(secret));
      return c.redirect(url.href, 302);
    }),

    endpoint(routes.callback, async c => {
      const { provider: name } = c.req.valid('param');
      const provider = providerOf(name);
      const { state, code, error } = c.req.valid('query');
      const secret = cookie.read(c.req.header('cookie'));
      const { secrets, returnTo, linker } = await takeAttempt(deps, { secret, state, name });
      if (code === undefined && error === undefined) throw attemptOver();

      // The redirect URI must be the one that the provider was given. A proxy may have changed the request's path.
      const callbackUrl = new URL(redirectUriOf(name));
      callbackUrl.search = new URL(c.req.url).search;
      const claim = { provider: name, identity: await provider.identify(callbackUrl, secrets) };

      const origin = originOf(c);
      c.header('Set-Cookie', cookie.clear());
      if (linker) await link(deps, claim, linker, origin);
      else browser.answer(c, await signIn(deps, claim, origin), true);
      return c.redirect(returnTo, 302);
    }),

    endpoint(routes.link, async c => {
      const { provider: name } = c.req.valid('param');
      const provider = providerOf(name);
      const { return_to, password } = c.req.valid('json');
      const returnTo = resolveReturnTo(return_to, pages);
      const { userId, credentialId: sessionId } = c.get('principal');
      const linker = { userId, sessionId };
      await deps.proveOwner({ ...linker, ...originOf(c) }, password);
      const redirectUri = redirectUriOf(name);
      const { secret, url } = await startAttempt(deps, provider, { name, redirectUri, returnTo, linker });
      c.header('Set-Cookie', cookie.set(secret));
      return c.json({ url: url.href }, 200);
    }),

    endpoint(routes.unlink, async c => {
      const { provider } = c.req.valid('param');
      const { userId, credentialId } = c.get('principal');
      await deps.sessions.requireWhole(userId, credentialId);
      await unlinkIdentity(deps, { userId, credentialId, provider, configured }, originOf(c));
      return c.body(null, 204);
    }),
  ] as const;

  return { api, hasWayIn: (user: Profile) => hasWayIn(user, configured) };
}
