import { empty, json, pageOf, pageQuery, raw, route } from '@stak/http';
import { z } from 'zod';
import * as limits from './limits.ts';
import { refusals, resourceMetadataPath } from './protocol.ts';
import { appScopeSchema, appScopes } from './scopes.ts';

const tags = ['accounts'];
const requestSchema = z
  .string()
  .min(1)
  .max(limits.requestChars)
  .describe('What the page that asks has in its address');
const names = z.array(z.string());

const appSchema = z.strictObject({
  sessionId: z.string().describe('Of the app’s own session'),
  userId: z.string().describe('The person who let it in, whose rights bound it'),
  name: z.string().describe('As the app calls itself: nobody has checked it'),
  redirectHost: z.string().describe('Where the app was answered'),
  scope: appScopeSchema,
  createdAt: z.string(),
  lastUsedAt: z.string().describe('When it last got new tokens'),
});

export const appRoutes = {
  resource: route({
    method: 'get',
    path: resourceMetadataPath,
    operationId: 'accounts.readProtectedResource',
    tags,
    auth: 'public',
    summary: 'What apps need to know about the MCP server (RFC 9728)',
    responses: {
      200: json(
        z.strictObject({
          resource: z.string(),
          authorization_servers: names,
          scopes_supported: names,
          bearer_methods_supported: names,
          resource_name: z.string(),
        }),
      ),
    },
  }),
  server: route({
    method: 'get',
    path: '/.well-known/oauth-authorization-server',
    operationId: 'accounts.readAuthorizationServer',
    tags,
    auth: 'public',
    summary: 'How apps get tokens here (RFC 8414)',
    responses: {
      200: json(
        z.strictObject({
          issuer: z.string(),
          authorization_endpoint: z.string(),
          token_endpoint: z.string(),
          registration_endpoint: z.string(),
          revocation_endpoint: z.string(),
          jwks_uri: z.string(),
          scopes_supported: names,
          response_types_supported: names,
          response_modes_supported: names,
          grant_types_supported: names,
          token_endpoint_auth_methods_supported: names,
          revocation_endpoint_auth_methods_supported: names,
          code_challenge_methods_supported: names,
          authorization_response_iss_parameter_supported: z.boolean(),
        }),
      ),
    },
  }),
  register: route({
    method: 'post',
    path: '/v1/oauth/register',
    operationId: 'accounts.registerApp',
    tags,
    auth: 'public',
    summary: 'Register an app (RFC 7591)',
    description:
      'Takes client metadata as JSON and gives a public client: it has no secret, and proves itself by PKCE. Nothing is open to it before a person approves. It is forgotten after a day without that.',
    request: {
      body: raw('Client metadata: `redirect_uris`, and `client_name` for the people who are asked'),
    },
    responses: {
      201: json(
        z.strictObject({
          client_id: z.string(),
          client_id_issued_at: z.int(),
          client_name: z.string(),
          redirect_uris: names,
          grant_types: names,
          response_types: names,
          token_endpoint_auth_method: z.literal('none'),
        }),
      ),
      400: refusals,
    },
    limits: { bodyBytes: limits.registrationBytes },
    problems: ['accounts.too_many_attempts'],
  }),
  authorize: route({
    method: 'get',
    path: '/v1/oauth/authorize',
    operationId: 'accounts.authorizeApp',
    tags,
    auth: 'public',
    summary: 'Ask a person to let an app in',
    description:
      'For browsers: sends them to the page of the console that asks, or back to the app with an `error`. PKCE with S256 is required.',
    // Clients add parameters of their own, which are to be ignored (RFC 6749, 3.1).
    request: { query: z.looseObject({ client_id: z.unknown(), redirect_uri: z.unknown() }) },
    responses: { 302: empty('To the page that asks, or back to the app') },
    problems: ['accounts.app_unknown', 'accounts.app_redirect_refused'],
  }),
  token: route({
    method: 'post',
    path: '/v1/oauth/token',
    operationId: 'accounts.grantAppTokens',
    tags,
    auth: 'public',
    summary: 'Exchange a code or a refresh token for tokens',
    description:
      'Takes a form. A code is good once, for a minute: if it is presented again, everything that was made with it ends. So does everything of an app whose refresh token is used twice.',
    request: { body: raw('A form: `grant_type`, `client_id`, and what the grant needs') },
    responses: {
      200: json(
        z.strictObject({
          access_token: z.string(),
          token_type: z.literal('Bearer'),
          expires_in: z.int(),
          refresh_token: z.string(),
          scope: z.string(),
        }),
      ),
      400: refusals,
    },
    limits: { bodyBytes: limits.formBytes },
  }),
  revoke: route({
    method: 'post',
    path: '/v1/oauth/revoke',
    operationId: 'accounts.revokeAppToken',
    tags,
    auth: 'public',
    summary: 'Disconnect the app that a token belongs to (RFC 7009)',
    description:
      'Takes a form with either of its tokens, and ends both. A token that is good for nothing is answered the same.',
    request: { body: raw('A form: `token` and `client_id`') },
    responses: { 200: empty('It is good for nothing any more'), 400: refusals },
    limits: { bodyBytes: limits.formBytes },
  }),
  readRequest: route({
    method: 'post',
    path: '/v1/apps/requests/read',
    operationId: 'accounts.readAppRequest',
    tags,
    auth: 'person',
    summary: 'Read what an app asks for',
    request: { body: json(z.strictObject({ request: requestSchema })) },
    responses: {
      200: json(
        z.strictObject({
          name: z.string().describe('As the app calls itself: nobody has checked it'),
          redirectHost: z.string().describe('Where the answer goes'),
          scope: appScopeSchema.describe('What it asks for'),
          mostScope: appScopeSchema.describe('What you can give it: no more than you have'),
          accountId: z.string(),
          organisation: z.string().describe('The name of the organisation that it would be let into'),
        }),
      ),
    },
    problems: ['accounts.app_request_expired', 'accounts.organisation_not_found'],
  }),
  decide: route({
    method: 'post',
    path: '/v1/apps/requests/decide',
    operationId: 'accounts.decideAppRequest',
    tags,
    auth: 'person',
    summary: 'Let an app in, or refuse it',
    description: 'Send the browser to `redirectTo`, either way: the app waits there.',
    request: {
      body: json(
        z.strictObject({
          request: requestSchema,
          accountId: z.string().max(60).describe('The organisation, as it was shown'),
          approved: z.boolean(),
          scope: appScopeSchema.optional().describe('Less than it asks for; all of it if absent'),
        }),
      ),
    },
    responses: {
      200: json(z.strictObject({ redirectTo: z.string().describe('Where the app waits for the answer') })),
    },
    problems: [
      'accounts.app_request_expired',
      'accounts.app_unknown',
      'accounts.changed',
      'accounts.organisation_not_found',
      'accounts.origin_refused',
    ],
  }),
  list: route({
    method: 'get',
    path: '/v1/apps',
    operationId: 'accounts.listApps',
    tags,
    auth: 'person',
    summary: 'List the apps that were let in',
    description:
      'Into the organisation that you work in: your own, and for admins and owners those of every member.',
    request: { query: pageQuery() },
    responses: { 200: json(pageOf(appSchema)) },
  }),
  end: route({
    method: 'delete',
    path: '/v1/apps/{userId}/{sessionId}',
    operationId: 'accounts.endApp',
    tags,
    auth: 'person',
    summary: 'Disconnect an app',
    description: 'One that you let in, or, as an admin or owner, one of any member.',
    request: {
      params: z.strictObject({
        userId: z.string().regex(/^usr_[a-z0-9]{1,40}$/),
        sessionId: z.string().regex(/^ses_[a-z0-9]{1,40}$/),
      }),
    },
    responses: { 204: empty() },
    problems: ['accounts.app_not_found'],
  }),
} as const;

export const supportedScopes: string[] = [...appScopes];
