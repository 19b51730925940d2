import { empty, endpoint, json, readsOnly, recordLine, route, withProblems } from '@stak/http';
import { z } from 'zod';
import { manageScope, refuseFields } from '../access/admins.ts';
import { noTenant, tenantErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { tenantId } from '../schema.ts';
import { createCookies } from './browser.ts';
import {
  clientOf,
  ownerOf,
  providerBody,
  providerShape,
  redirectUriOf,
  removeProvider,
  requireProvider,
  showProvider,
  signInThrough,
  userRefused,
  writeProvider,
} from './provider.ts';
import type { Deps } from './sessions.ts';
import { enterPortal } from './sign-in.ts';

const tags = ['tenants'] as string[];
const managed = { auth: 'user', endUserScope: manageScope, tags, tenant: 'path', mcp: false } as const;
const params = z.strictObject({ tenant_id: tenantId });
const settingsPath = '/v1/tenants/{tenant_id}/portal-provider';
const signInPath = '/v1/portal/{tenant_id}/provider';
const rate = {
  name: 'portal provider',
  limit: limits.signInTriesPerMinute,
  windowMs: 60_000,
  by: 'address',
} as const;
const parameter = z.string().max(limits.callbackChars).optional();

const routes = {
  read: route({
    ...managed,
    ...readsOnly,
    path: settingsPath,
    operationId: 'tenants.getPortalProvider',
    scope: 'read',
    summary: 'Get the identity provider of the portal',
    description: 'The client secret is never returned.',
    request: { params },
    responses: { 200: json(providerShape) },
    problems: ['tenants.provider_not_found'],
  }),
  write: route({
    ...managed,
    method: 'put',
    path: settingsPath,
    operationId: 'tenants.putPortalProvider',
    reaches: 'outside',
    audit: true,
    stores: 'body',
    scope: 'write',
    summary: 'Set the OpenID Connect provider of the portal',
    description:
      'Users are identified by issuer and subject. An address does not match an existing user, unless the account sets `matches_addresses`. An admin of the tenant cannot set it.',
    request: { params, body: json(providerBody) },
    responses: { 200: json(providerShape) },
    problems: ['tenants.provider_refused', 'tenants.admin_refused', 'http.version_mismatch'],
  }),
  remove: route({
    ...managed,
    method: 'delete',
    path: settingsPath,
    operationId: 'tenants.deletePortalProvider',
    reaches: 'nothing',
    audit: true,
    stores: 'deletes',
    scope: 'write',
    summary: 'Remove the provider of the portal',
    description: 'Existing sessions stay valid.',
    request: { params },
    responses: { 204: empty() },
    problems: ['tenants.provider_not_found'],
  }),
  test: route({
    ...managed,
    method: 'post',
    path: `${settingsPath}/test`,
    operationId: 'tenants.testPortalProvider',
    reaches: 'outside',
    audit: true,
    stores: 'body',
    scope: 'write',
    summary: 'Test the provider of the portal',
    description:
      'Checks whether the provider can be reached and its configuration is valid. No one is signed in.',
    limits: { rate },
    request: { params },
    responses: {
      200: json(
        z.strictObject({
          is_working: z.boolean().describe('Whether people can sign in there'),
          detail: z.string().describe('What is wrong, or the URL at which people will sign in'),
        }),
      ),
    },
    problems: ['tenants.provider_not_found'],
  }),
  start: route({
    auth: 'public',
    tags,
    method: 'get',
    path: `${signInPath}/start`,
    operationId: 'tenants.startPortalSignIn',
    reaches: 'outside',
    audit: false,
    stores: 'access',
    tenant: 'handler',
    mcp: false,
    summary: 'Sign in to the portal through the provider of the tenant',
    description: 'For browsers. Redirects to the provider, which redirects to the callback.',
    limits: { rate },
    request: { params },
    responses: { 302: empty('To the provider') },
    problems: ['tenants.not_found'],
  }),
  callback: route({
    auth: 'public',
    tags,
    method: 'get',
    path: `${signInPath}/callback`,
    operationId: 'tenants.finishPortalSignIn',
    reaches: 'outside',
    audit: false,
    stores: 'access',
    tenant: 'handler',
    mcp: false,
    summary: 'Receive the redirect of the provider of a tenant',
    description: 'Redirects to the portal, signed in, or with the reason of a failure after the `#`.',
    limits: { rate },
    request: {
      params,
      query: z.looseObject({
        state: parameter.describe('The `state` of the request to the provider.'),
        code: parameter.describe('The code of the provider.'),
        error: parameter.describe('Why the provider refused.'),
      }),
    },
    responses: { 302: empty('To the portal') },
  }),
};

export function createProviderSettingsRoutes(deps: Deps) {
  return [
    endpoint(routes.read, async c => {
      const { tenant_id } = c.req.valid('param');
      return c.json(showProvider(deps.portal, await requireProvider(deps, tenant_id)), 200);
    }),
    endpoint(routes.write, async c => {
      const { tenant_id } = c.req.valid('param');
      const body = c.req.valid('json');
      const { matches_addresses, ...others } = body;
      refuseFields(
        c.get('principal'),
        { ...others, ...(matches_addresses && { matches_addresses }) },
        name => name !== 'matches_addresses',
      );
      return c.json(showProvider(deps.portal, await writeProvider(deps, tenant_id, body)), 200);
    }),
    endpoint(routes.remove, async c => {
      const { tenant_id } = c.req.valid('param');
      await removeProvider(deps, tenant_id);
      return c.body(null, 204);
    }),
    endpoint(routes.test, async c => {
      const { tenant_id } = c.req.valid('param');
      const provider = await requireProvider(deps, tenant_id);
      const result = await deps.portal.issuers?.test(clientOf(deps.portal, provider));
      const { isWorking = false, detail = 'This server does not connect to other providers.' } = result ?? {};
      return c.json({ is_working: isWorking, detail }, 200);
    }),
  ] as const;
}

export function createProviderSignInRoutes(deps: Deps) {
  const { portal, log } = deps;
  const cookies = createCookies(portal.publicUrl);
  const start = endpoint(routes.start, async c => {
    const { tenant_id } = c.req.valid('param');
    const { provider } = await enterPortal(deps, tenant_id);
    if (!portal.issuers || !provider) throw noTenant();
    const { url, cookie } = await portal.issuers.start(ownerOf(tenant_id), clientOf(portal, provider), {
      redirectUri: redirectUriOf(portal, tenant_id),
      returnTo: `/portal/${tenant_id}`,
    });
    c.header('Set-Cookie', cookie);
    return c.redirect(url, 302);
  });
  return [
    ...withProblems([start], portal.issuers?.problems ?? []),
    endpoint(routes.callback, async c => {
      const { tenant_id } = c.req.valid('param');
      const page = new URL(`/portal/${tenant_id}`, portal.publicUrl);
      if (portal.issuers) c.header('Set-Cookie', portal.issuers.clearCookie, { append: true });
      try {
        const callback = { url: c.req.url, cookie: c.req.header('cookie') };
        const { session, user_id, isNew, account_id } = await finish(deps, tenant_id, callback, {
          userAgent: c.req.header('user-agent'),
        });
        cookies.set(c, tenant_id, session.cookie, session.cookieS);
        if (isNew)
          await recordLine(deps, c, account_id, {
            via: 'openid',
            credentialId: user_id,
            action: routes.callback.operationId,
            target: `/v1/tenants/${tenant_id}/users/${encodeURIComponent(user_id)}`,
          });
      } catch (error) {
        // A person sees the response: the page tells them what to do.
        const { code } = error as { code?: unknown };
        log.info({ err: error, tenant_id }, "sign-in through a tenant's provider failed");
        const isOurs = tenantErrors.includes(error) || String(code).startsWith('accounts.');
        page.hash = `refused=${isOurs ? code : 'tenants.sign_in_refused'}`;
      }
      return c.redirect(page.href, 302);
    }),
  ] as const;
}

async function finish(
  deps: Deps,
  tenant_id: string,
  callback: { url: string; cookie: string | undefined },
  { userAgent }: { userAgent: string | undefined },
) {
  const { portal } = deps;
  if (!portal.issuers) throw userRefused();
  let provider: Awaited<ReturnType<typeof requireProvider>> | undefined;
  const findClient = async () => {
    provider = await requireProvider(deps, tenant_id);
    return clientOf(portal, provider);
  };
  const { identity } = await portal.issuers.finish(
    ownerOf(tenant_id),
    findClient,
    redirectUriOf(portal, tenant_id),
    callback,
  );
  const { entered } = await enterPortal(deps, tenant_id);
  if (entered.status === 'suspended') throw userRefused();
  const came = await signInThrough(deps, entered, provider!, identity, userAgent);
  return { ...came, account_id: entered.account_id };
}
