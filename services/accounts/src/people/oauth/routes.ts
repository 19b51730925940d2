import { empty, json, nameSchemas, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import { triedPasswordSchema } from '../../schema.ts';
import * as limits from './limits.ts';
import { providerNames } from './provider.ts';

const tags = ['accounts'];
const common = { tenant: 'none', mcp: false, tags } as const;
const params = z.strictObject({ provider: z.enum(providerNames) });
const returnTo = z
  .string()
  .max(limits.returnToChars)
  .optional()
  .describe('Where to send the browser afterwards: a path on this server, or a URL of an allowed origin');
const parameter = z.string().max(limits.callbackChars).optional();
const rate = {
  name: 'provider sign-in',
  limit: limits.startsPerMinute,
  windowMs: 60_000,
  by: 'address',
} as const;

const linkBody = z.strictObject({ return_to: returnTo, password: triedPasswordSchema.optional() });
const providerUrl = z.strictObject({ url: z.string() });
nameSchemas({ ProviderLink: linkBody, ProviderUrl: providerUrl });

export const socialRoutes = {
  providers: route({
    ...common,
    ...readsOnly,
    path: '/v1/auth/providers',
    operationId: 'accounts.listProviders',
    auth: 'public',
    summary: 'List the providers for signing in',
    description: 'Returns the providers that people can sign in with on this server.',
    responses: { 200: json(z.strictObject({ data: z.array(z.enum(providerNames)) })) },
  }),
  start: route({
    ...common,
    method: 'get',
    path: '/v1/auth/{provider}/start',
    operationId: 'accounts.startProviderSignIn',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    auth: 'public',
    summary: 'Sign in with GitHub or Google',
    description: 'For browsers. Redirects to the provider, which redirects to the callback.',
    request: { params, query: z.strictObject({ return_to: returnTo }) },
    responses: { 302: empty('To the provider') },
    limits: { rate },
    problems: ['accounts.provider_not_configured', 'accounts.return_to_refused', 'accounts.provider_failed'],
  }),
  callback: route({
    ...common,
    method: 'get',
    path: '/v1/auth/{provider}/callback',
    operationId: 'accounts.finishProviderSignIn',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    auth: 'public',
    summary: 'Receive the redirect of a provider',
    description:
      'Signs in by setting the refresh cookie, or links the identity, and redirects to `return_to`.',
    request: {
      params,
      // Providers add parameters: scope, authuser, hd, iss.
      query: z.looseObject({ code: parameter, state: parameter, error: parameter, iss: parameter }),
    },
    responses: { 302: empty('To `return_to`') },
    limits: { rate },
    problems: [
      'accounts.provider_not_configured',
      'accounts.sign_in_expired',
      'accounts.sign_in_denied',
      'accounts.provider_email_unverified',
      'accounts.link_refused',
      'accounts.identity_taken',
      'accounts.being_deleted',
      'accounts.disabled',
      'accounts.provider_failed',
    ],
  }),
  link: route({
    ...common,
    method: 'post',
    path: '/v1/auth/{provider}/link',
    operationId: 'accounts.linkProvider',
    reaches: 'nothing',
    audit: 'own',
    stores: 'body',
    auth: 'person',
    summary: 'Link an identity to the account',
    description:
      'Requires the password, or a recent sign-in if there is no password, and a recently confirmed second factor if there is one. Send the browser to the `url`. It returns to `return_to`, linked.',
    request: {
      params,
      body: json(linkBody),
    },
    responses: { 200: json(providerUrl) },
    problems: [
      'accounts.provider_not_configured',
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
    path: '/v1/auth/{provider}/link',
    operationId: 'accounts.unlinkProvider',
    reaches: 'nothing',
    audit: 'own',
    stores: 'deletes',
    auth: 'person',
    summary: 'Unlink an identity',
    description: 'Removes a way to sign in. The last one cannot be removed.',
    request: { params },
    responses: { 204: empty() },
    problems: ['accounts.provider_not_linked', 'accounts.last_sign_in', 'accounts.session_confined'],
  }),
} as const;
