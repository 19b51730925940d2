import { empty, endpoint, json, nameSchemas, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import type { OrganisationProvider } from '../access/tables.ts';
import { doneBy } from '../audit.ts';
import { organisationNotFound, userNotFound } from '../errors.ts';
import { originOf } from '../origin.ts';
import { proveOwner, requireFresh } from '../people/credentials/owner.ts';
import type { Linker } from '../people/oauth/attempts.ts';
import { isIssuer } from '../people/oauth/issuers.ts';
import * as limits from '../people/oauth/limits.ts';
import { type ReturnSettings, resolveReturnTo } from '../people/oauth/return-to.ts';
import type { Browser } from '../people/sessions/browser.ts';
import { type Role, roleNames } from '../roles.ts';
import { triedPasswordSchema } from '../schema.ts';
import type { Actor } from './members.ts';
import {
  changeProvider,
  clientOf,
  linkThrough,
  type OrganisationProviderDeps,
  ownerOf,
  removeProvider,
  requireProvider,
  signInThrough,
  unlinkSubject,
} from './provider.ts';

const tags = ['accounts'];
const common = { tenant: 'none', mcp: false, tags } as const;
const params = z.strictObject({ accountId: z.string().regex(/^(?:usr|org)_[A-Za-z0-9_-]{1,40}$/) });
const rate = {
  name: 'organisation sign-in',
  limit: limits.startsPerMinute,
  windowMs: 60_000,
  by: 'address',
} as const;
const returnTo = z
  .string()
  .max(limits.returnToChars)
  .optional()
  .describe('Where to send the browser afterwards: a path on this server, or a URL of an allowed origin');
const parameter = z.string().max(limits.callbackChars).optional();
const domain = z
  .string()
  .trim()
  .toLowerCase()
  .max(limits.domainChars)
  .regex(/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/);
const shownSchema = z.strictObject({
  issuer: z.string(),
  clientId: z.string(),
  domains: z.array(z.string()),
  defaultRole: z.enum(roleNames),
  redirectUri: z.string().describe('The redirect URI to register with the provider'),
  signInUrl: z.string().describe('The sign-in page for your people'),
  updatedAt: z.string(),
});
const missing = 'accounts.organisation_not_found';

nameSchemas({ OrganisationProvider: shownSchema });

const routes = {
  read: route({
    ...common,
    ...readsOnly,
    path: '/v1/organisation/provider',
    operationId: 'accounts.readOrganisationProvider',
    auth: 'session',
    scope: 'admin',
    summary: 'Get the identity provider of the organisation',
    description: 'Returns the OpenID Connect provider of the organisation, without its client secret.',
    responses: { 200: json(shownSchema) },
    problems: [missing],
  }),
  change: route({
    ...common,
    method: 'put',
    path: '/v1/organisation/provider',
    operationId: 'accounts.changeOrganisationProvider',
    reaches: 'outside',
    audit: 'own',
    stores: 'body',
    auth: 'session',
    scope: 'admin',
    role: 'owner',
    summary: 'Set the OpenID Connect provider of the organisation',
    description:
      'People sign in there and become members if their verified address is in one of the domains. They are identified by issuer and subject. An address never matches an existing person.',
    request: {
      body: json(
        z.strictObject({
          issuer: z.string().max(limits.issuerChars).refine(isIssuer, 'Not an https address'),
          clientId: z.string().min(1).max(limits.clientChars),
          clientSecret: z
            .string()
            .min(1)
            .max(limits.clientChars)
            .optional()
            .describe(
              'Stored encrypted, and never returned. Without it, the previous secret of the same issuer stays',
            ),
          domains: z.array(domain).min(1).max(limits.domains),
          defaultRole: z
            .enum(['admin', 'member', 'viewer'])
            .describe('The role of people who sign in for the first time'),
        }),
      ),
    },
    responses: { 200: json(shownSchema) },
    problems: ['accounts.provider_refused', 'accounts.step_up_needed', 'accounts.changed'],
  }),
  remove: route({
    ...common,
    method: 'delete',
    path: '/v1/organisation/provider',
    operationId: 'accounts.removeOrganisationProvider',
    reaches: 'nothing',
    audit: 'own',
    stores: 'deletes',
    auth: 'session',
    scope: 'admin',
    role: 'owner',
    summary: 'Remove the provider of the organisation',
    description: 'Removes the provider. Its people stay members, and their sessions continue.',
    responses: { 204: empty() },
    problems: [missing],
  }),
  test: route({
    ...common,
    method: 'post',
    path: '/v1/organisation/provider/test',
    operationId: 'accounts.testOrganisationProvider',
    reaches: 'outside',
    audit: false,
    stores: 'edit',
    auth: 'session',
    scope: 'admin',
    summary: 'Test the provider',
    description:
      'Checks whether the provider can be reached and its configuration is valid. Nobody signs in.',
    limits: { rate },
    responses: {
      200: json(
        z.strictObject({
          isWorking: z.boolean(),
          detail: z.string().describe('What is wrong, or the URL at which people will sign in'),
        }),
      ),
    },
    problems: [missing],
  }),
  look: route({
    ...common,
    ...readsOnly,
    path: '/v1/auth/organisations/{accountId}',
    operationId: 'accounts.readOrganisationSignIn',
    auth: 'public',
    limits: { rate },
    summary: 'Get the organisation of a sign-in page',
    description: 'Returns the name of an organisation that has its own provider.',
    request: { params },
    responses: { 200: json(z.strictObject({ accountId: z.string(), name: z.string() })) },
    problems: [missing],
  }),
  start: route({
    ...common,
    method: 'get',
    path: '/v1/auth/organisations/{accountId}/start',
    operationId: 'accounts.startOrganisationSignIn',
    reaches: 'outside',
    audit: false,
    stores: 'access',
    auth: 'public',
    limits: { rate },
    summary: 'Sign in through the provider of an organisation',
    description:
      'For browsers. Redirects to the provider, which redirects to the callback. The session is for this organisation only.',
    request: { params, query: z.strictObject({ return_to: returnTo }) },
    responses: { 302: empty('To the provider') },
    problems: [missing, 'accounts.return_to_refused', 'accounts.provider_failed'],
  }),
  callback: route({
    ...common,
    method: 'get',
    path: '/v1/auth/organisations/{accountId}/callback',
    operationId: 'accounts.finishOrganisationSignIn',
    reaches: 'outside',
    audit: false,
    stores: 'access',
    auth: 'public',
    summary: 'Receive the redirect of the provider of an organisation',
    description: 'Signs in or links the person who comes back from the provider, and sends the browser on.',
    request: {
      params,
      query: z.looseObject({ state: parameter, code: parameter, error: parameter }),
    },
    responses: { 302: empty('Signed in, or linked') },
    problems: [
      missing,
      'accounts.sign_in_expired',
      'accounts.sign_in_denied',
      'accounts.domain_refused',
      'accounts.not_a_member',
      'accounts.seats_taken',
      'accounts.identity_taken',
      'accounts.link_refused',
      'accounts.disabled',
      'accounts.provider_failed',
    ],
  }),
  link: route({
    ...common,
    method: 'post',
    path: '/v1/auth/organisations/{accountId}/link',
    operationId: 'accounts.linkOrganisationProvider',
    reaches: 'outside',
    audit: 'own',
    stores: 'body',
    auth: 'person',
    summary: 'Link yourself to the provider of your organisation',
    description: 'Send the browser to the `url`. It returns to `return_to`, linked.',
    request: {
      params,
      body: json(z.strictObject({ return_to: returnTo, password: triedPasswordSchema.optional() })),
    },
    responses: { 200: json(z.strictObject({ url: z.string() })) },
    problems: [
      missing,
      'accounts.return_to_refused',
      'accounts.password_wrong',
      'accounts.too_many_attempts',
      'accounts.sign_in_again',
      'accounts.step_up_needed',
      'accounts.provider_failed',
    ],
  }),
  unlink: route({
    ...common,
    method: 'delete',
    path: '/v1/auth/organisations/{accountId}/link',
    operationId: 'accounts.unlinkOrganisationProvider',
    reaches: 'nothing',
    audit: 'own',
    stores: 'deletes',
    auth: 'person',
    summary: 'Unlink yourself from the provider of an organisation',
    description:
      'Removes the provider as your way into the organisation. People whom it brought cannot do this.',
    request: { params },
    responses: { 204: empty() },
    problems: ['accounts.provider_not_linked', 'accounts.last_sign_in', 'accounts.session_confined'],
  }),
} as const;

type Deps = OrganisationProviderDeps & { browser: Browser; pages: ReturnSettings };

export function createOrganisationProviderRoutes(deps: Deps) {
  const { browser, pages, memberships, sessions, users, issuers } = deps;
  const redirectUriOf = (accountId: string): string =>
    new URL(`/v1/auth/organisations/${accountId}/callback`, pages.publicUrl).href;
  const show = ({ accountId, sealedSecret: _, ...settings }: OrganisationProvider) => ({
    ...settings,
    redirectUri: redirectUriOf(accountId),
    signInUrl: new URL(`/console/sign-in?organisation=${accountId}`, pages.publicUrl).href,
  });
  const leave = async (accountId: string, return_to: string | undefined, linker?: Linker) => {
    const { settings } = await requireProvider(deps, accountId);
    return issuers.start(ownerOf(accountId), clientOf(deps, settings), {
      redirectUri: redirectUriOf(accountId),
      returnTo: resolveReturnTo(return_to, pages),
      linker,
    });
  };

  return [
    endpoint(routes.read, async c =>
      c.json(show((await requireProvider(deps, c.get('principal').accountId)).settings), 200),
    ),
    endpoint(routes.change, async c => {
      const { accountId, userId, role, credentialId: sessionId } = c.get('principal');
      const origin = originOf(c);
      const entry = doneBy(c.get('principal'), origin);
      const actor: Actor = { accountId, userId, role: role as Role, address: origin.address, entry };
      const signed = { userId, sessionId, ...origin };
      return c.json(show(await changeProvider(deps, actor, signed, c.req.valid('json'))), 200);
    }),
    endpoint(routes.remove, async c => {
      const { accountId, userId, role } = c.get('principal');
      const origin = originOf(c);
      const entry = doneBy(c.get('principal'), origin);
      await removeProvider(deps, { accountId, userId, role: role as Role, address: origin.address, entry });
      return c.body(null, 204);
    }),
    endpoint(routes.test, async c => {
      const { settings } = await requireProvider(deps, c.get('principal').accountId);
      return c.json(await issuers.test(clientOf(deps, settings)), 200);
    }),
    endpoint(routes.look, async c => {
      const { accountId } = c.req.valid('param');
      const { account } = await requireProvider(deps, accountId);
      const name = (await memberships.read(accountId))?.name ?? account.name;
      return c.json({ accountId, name }, 200);
    }),
    endpoint(routes.start, async c => {
      const { accountId } = c.req.valid('param');
      const { url, cookie } = await leave(accountId, c.req.valid('query').return_to);
      c.header('Set-Cookie', cookie);
      return c.redirect(url, 302);
    }),
    endpoint(routes.callback, async c => {
      const { accountId } = c.req.valid('param');
      let provider: Awaited<ReturnType<typeof requireProvider>> | undefined;
      const findClient = async () => {
        provider = await requireProvider(deps, accountId);
        return clientOf(deps, provider.settings);
      };
      const { identity, returnTo, linker } = await issuers.finish(
        ownerOf(accountId),
        findClient,
        redirectUriOf(accountId),
        { url: c.req.url, cookie: c.req.header('cookie') },
      );
      const visit = { ...provider!, identity };
      c.header('Set-Cookie', issuers.clearCookie);
      if (linker) await linkThrough(deps, visit, linker, originOf(c));
      else browser.answer(c, await signInThrough(deps, visit, originOf(c)), true);
      return c.redirect(returnTo, 302);
    }),
    endpoint(routes.link, async c => {
      const { accountId } = c.req.valid('param');
      const { return_to, password } = c.req.valid('json');
      const { userId, credentialId: sessionId } = c.get('principal');
      const linker = { userId, sessionId };
      const user = await proveOwner(deps, { ...linker, ...originOf(c) }, password);
      await requireFresh(deps, linker, user);
      await requireMember(accountId, userId);
      const { url, cookie } = await leave(accountId, return_to, linker);
      c.header('Set-Cookie', cookie);
      return c.json({ url }, 200);
    }),
    endpoint(routes.unlink, async c => {
      const { accountId } = c.req.valid('param');
      const { userId, credentialId: sessionId } = c.get('principal');
      await sessions.requireWhole(userId, sessionId);
      const user = await users.readProfile(userId);
      if (!user) throw userNotFound();
      await unlinkSubject(deps, user, accountId, { userId, sessionId, ...originOf(c) });
      return c.body(null, 204);
    }),
  ] as const;

  async function requireMember(accountId: string, userId: string): Promise<void> {
    if ((await memberships.roleIn(accountId, userId)) === undefined) throw organisationNotFound();
  }
}
