import { empty, json, nameSchemas, pageOf, pageQuery, raw, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import { appScopeSchema, appScopes, resourceMetadataPath } from '../../app-scopes.ts';
import * as limits from './limits.ts';
import { refusals, wrongRequest } from './protocol.ts';

const tags = ['accounts'];
const common = { tenant: 'none', mcp: false, tags } as const;
const requestSchema = z
  .string()
  .min(1)
  .max(limits.requestChars)
  .describe('The request, from the URL of the consent page');
const names = z.array(z.string());

const appSchema = z.strictObject({
  sessionId: z.string().describe("The id of the app's session"),
  userId: z.string().describe('The person who approved it. The app can do no more than they can'),
  name: z.string().describe('The name that the app gives itself. It is not verified'),
  redirectHost: z.string().describe('The redirect URI of the app'),
  scope: appScopeSchema,
  createdAt: z.string(),
  lastUsedAt: z.string().describe('When it last received new tokens'),
});

nameSchemas({ App: appSchema });

export const appRoutes = {
  resource: route({
    ...common,
    ...readsOnly,
    path: resourceMetadataPath,
    operationId: 'accounts.readProtectedResource',
    auth: 'public',
    summary: 'Get the metadata of the MCP server (RFC 9728)',
    description: 'Returns which authorization server gives tokens for `/mcp`, and the scopes there are.',
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
    ...common,
    ...readsOnly,
    path: '/.well-known/oauth-authorization-server',
    operationId: 'accounts.readAuthorizationServer',
    auth: 'public',
    summary: 'Get the metadata of the authorization server (RFC 8414)',
    description: 'Returns the addresses and abilities of the authorization server.',
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
    ...common,
    method: 'post',
    path: '/v1/oauth/register',
    operationId: 'accounts.registerApp',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    auth: 'public',
    summary: 'Register an app (RFC 7591)',
    description:
      'Takes client metadata as JSON and returns a public client, which has no secret and uses PKCE. It has no access until a person approves it. If nobody does within a day, the registration is deleted.',
    request: {
      body: raw('Client metadata: `redirect_uris`, and the `client_name` to show on the consent page'),
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
    ...common,
    ...readsOnly,
    path: '/v1/oauth/authorize',
    operationId: 'accounts.authorizeApp',
    auth: 'public',
    summary: 'Start the authorization of an app',
    description:
      'For browsers. Redirects to the consent page of the console, or shows a page that says what is wrong with the request, with a link back to the app that has the `error`. PKCE with S256 is required.',
    // Unknown parameters must be ignored (RFC 6749, 3.1).
    request: { query: z.looseObject({ client_id: z.unknown(), redirect_uri: z.unknown() }) },
    responses: { 302: empty('To the consent page'), 400: wrongRequest },
    problems: ['accounts.app_unknown', 'accounts.app_redirect_refused'],
  }),
  token: route({
    ...common,
    method: 'post',
    path: '/v1/oauth/token',
    operationId: 'accounts.grantAppTokens',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'public',
    summary: 'Exchange a code or a refresh token for tokens',
    description:
      'Takes a form. A code works once, for one minute. Using a code or a refresh token twice revokes all tokens that came from it.',
    request: { body: raw('A form with `grant_type`, `client_id` and the parameters of the grant') },
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
    ...common,
    method: 'post',
    path: '/v1/oauth/revoke',
    operationId: 'accounts.revokeAppToken',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'public',
    summary: 'Disconnect the app that a token belongs to (RFC 7009)',
    description:
      'Takes a form with either of its tokens, and revokes both. The response is the same for a token that is not valid.',
    request: { body: raw('A form with `token` and `client_id`') },
    responses: { 200: empty('The token is revoked'), 400: refusals },
    limits: { bodyBytes: limits.formBytes },
  }),
  readRequest: route({
    ...common,
    method: 'post',
    path: '/v1/apps/requests/read',
    operationId: 'accounts.readAppRequest',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    auth: 'person',
    summary: 'Get what an app is asking for',
    description: 'Returns who asks, where the answer goes and what for. It changes nothing.',
    request: { body: json(z.strictObject({ request: requestSchema })) },
    responses: {
      200: json(
        z.strictObject({
          name: z.string().describe('The name that the app gives itself. It is not verified'),
          redirectHost: z.string().describe('The host that the answer goes to'),
          scope: appScopeSchema.describe('The scopes that it asks for'),
          mostScope: appScopeSchema.describe('The scopes that you can grant: no more than you have'),
          accountId: z.string(),
          organisation: z.string().describe('The name of the organisation that it would have access to'),
        }),
      ),
    },
    problems: ['accounts.app_request_expired', 'accounts.organisation_not_found'],
  }),
  decide: route({
    ...common,
    method: 'post',
    path: '/v1/apps/requests/decide',
    operationId: 'accounts.decideAppRequest',
    reaches: 'nothing',
    audit: 'own',
    stores: 'body',
    auth: 'person',
    summary: 'Approve or deny an app',
    description: 'In both cases, send the browser to `redirectTo`, where the app is waiting.',
    request: {
      body: json(
        z.strictObject({
          request: requestSchema,
          accountId: z.string().max(60).describe('The organisation that was shown to the person'),
          approved: z.boolean(),
          scope: appScopeSchema
            .optional()
            .describe('Grants fewer scopes than the app asks for. By default, all of them'),
        }),
      ),
    },
    responses: {
      200: json(z.strictObject({ redirectTo: z.string().describe('The URL at which the app is waiting') })),
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
    ...common,
    ...readsOnly,
    path: '/v1/apps',
    operationId: 'accounts.listApps',
    auth: 'person',
    summary: 'List connected apps',
    description:
      'Returns the apps that you connected to the current organisation. Admins and owners see those of every member.',
    request: { query: pageQuery() },
    responses: { 200: json(pageOf(appSchema)) },
  }),
  end: route({
    ...common,
    method: 'delete',
    path: '/v1/apps/{userId}/{sessionId}',
    operationId: 'accounts.endApp',
    reaches: 'nothing',
    audit: 'own',
    stores: 'deletes',
    auth: 'person',
    summary: 'Disconnect an app',
    description: 'You can disconnect your own apps. Admins and owners can disconnect those of any member.',
    request: {
      params: z.strictObject({
        userId: z.string().regex(/^usr_[A-Za-z0-9_-]{1,40}$/),
        sessionId: z.string().regex(/^ses_[a-z0-9]{1,40}$/),
      }),
    },
    responses: { 204: empty() },
    problems: ['accounts.app_not_found'],
  }),
} as const;

export const supportedScopes: string[] = [...appScopes];
