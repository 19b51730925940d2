import { answerPage, endpoint, type PageRequest } from '@stak/http';
import { mcpResource } from '../../app-scopes.ts';
import { doneBy } from '../../audit.ts';
import { inSeconds } from '../../deps.ts';
import { accountsErrors } from '../../errors.ts';
import { escapeHtml, htmlPage, pageHeaders } from '../../html-page.ts';
import { appsOf, type Session } from '../../main-table.ts';
import { originOf } from '../../origin.ts';
import { roles } from '../../roles.ts';
import type { Browser } from '../sessions/browser.ts';
import {
  type AuthorizationDeps,
  decideRequest,
  describeRequest,
  startAuthorization,
  type WrongRequest,
} from './authorization.ts';
import { type ClientsDeps, registerClient } from './clients.ts';
import { ProtocolError, parseForm } from './protocol.ts';
import { appRoutes as routes, supportedScopes } from './routes.ts';
import { type AppTokensDeps, grantTokens, revokeToken } from './tokens.ts';

type OAuthServerDeps = AuthorizationDeps &
  ClientsDeps &
  AppTokensDeps & { browser: Pick<Browser, 'checkOrigin'>; issuer: string }; // the name of the server

type Refusal = { json(body: { error: string; error_description: string }, status: 400): Response };

// OAuth for apps: registration, authorization, tokens and revocation. An app's grant is a session like a person's,
// with fewer permissions (docs/adr/0116).
export function createOAuthServer(deps: OAuthServerDeps) {
  const { publicUrl, issuer, browser, sessions, store, audit, memberships } = deps;
  const at = (path: string): string => publicUrl + path;

  const isAdmin = async (accountId: string, userId: string): Promise<boolean> => {
    const role = await memberships.roleIn(accountId, userId);
    return role !== undefined && roles[role].scope === 'admin';
  };
  const listApps = async (accountId: string, userId: string, page: PageRequest) => {
    const isForAll = await isAdmin(accountId, userId);
    return store.query(appsOf, { appOf: accountId, ...(!isForAll && { userId }) }, page);
  };

  return [
    endpoint(routes.resource, c =>
      c.json(
        {
          resource: mcpResource(publicUrl),
          authorization_servers: [publicUrl],
          scopes_supported: supportedScopes,
          bearer_methods_supported: ['header'],
          resource_name: 'Stak',
        },
        200,
      ),
    ),
    endpoint(routes.server, c =>
      c.json(
        {
          issuer: publicUrl,
          authorization_endpoint: at(routes.authorize.path),
          token_endpoint: at(routes.token.path),
          registration_endpoint: at(routes.register.path),
          revocation_endpoint: at(routes.revoke.path),
          jwks_uri: at('/.well-known/jwks.json'),
          scopes_supported: supportedScopes,
          response_types_supported: ['code'],
          response_modes_supported: ['query'],
          grant_types_supported: ['authorization_code', 'refresh_token'],
          token_endpoint_auth_methods_supported: ['none'],
          revocation_endpoint_auth_methods_supported: ['none'],
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
        },
        200,
      ),
    ),
    endpoint(routes.register, async c => {
      try {
        const made = await registerClient(deps, c.get('body'), c.get('address'));
        return c.json(
          {
            client_id: made.clientId,
            client_id_issued_at: inSeconds(Date.parse(made.createdAt)),
            client_name: made.clientName,
            redirect_uris: made.redirectUris,
            grant_types: ['authorization_code', 'refresh_token'],
            response_types: ['code'],
            token_endpoint_auth_method: 'none' as const,
          },
          201,
        );
      } catch (error) {
        return refusal(c, error);
      }
    }),
    endpoint(routes.authorize, async c => {
      const started = await startAuthorization(deps, c.req.valid('query'));
      if (typeof started === 'string') return c.redirect(started, 302);
      return c.html(wrongRequestPage(issuer, started), 400, pageHeaders) as never;
    }),
    endpoint(routes.token, async c => {
      try {
        const form = parseForm(c.req.header('content-type'), c.get('body'));
        return c.json(await grantTokens(deps, form, originOf(c)), 200);
      } catch (error) {
        return refusal(c, error);
      }
    }),
    endpoint(routes.revoke, async c => {
      try {
        await revokeToken(deps, parseForm(c.req.header('content-type'), c.get('body')), originOf(c));
        return c.body(null, 200);
      } catch (error) {
        return refusal(c, error);
      }
    }),
    endpoint(routes.readRequest, async c =>
      c.json(await describeRequest(deps, c.req.valid('json').request, c.get('principal')), 200),
    ),
    endpoint(routes.decide, async c => {
      browser.checkOrigin(c);
      const decision = c.req.valid('json');
      const redirectTo = await decideRequest(deps, decision, c.get('principal'), originOf(c));
      return c.json({ redirectTo }, 200);
    }),
    endpoint(routes.list, async c => {
      const principal = c.get('principal');
      const { accountId, userId } = principal;
      const read = (page: PageRequest) => listApps(accountId, userId, page);
      return c.json(await answerPage(principal, c.req.valid('query'), read, show), 200);
    }),
    endpoint(routes.end, async c => {
      const principal = c.get('principal');
      const { accountId } = principal;
      const { userId, sessionId } = c.req.valid('param');
      const isMine = userId === principal.userId || (await isAdmin(accountId, principal.userId));
      const session = isMine ? await sessions.read(userId, sessionId) : undefined;
      const entry = { ...doneBy(principal, originOf(c)), action: 'app.ended', target: sessionId };
      const also = { audit: audit.step(accountId, { ...entry, detail: session?.app?.name }) };
      if (session?.appOf !== accountId || !(await sessions.revoke(userId, sessionId, also)))
        throw accountsErrors.create('accounts.app_not_found', 'App not found.');
      return c.body(null, 204);
    }),
  ] as const;
}

// Shows the host, which was checked, and not the app's name, which the app chose itself.
function wrongRequestPage(name: string, { message, host, returnTo }: WrongRequest): string {
  const body = [
    `<p>The app at <b>${escapeHtml(host)}</b> sent a request that is not valid: ${escapeHtml(message)}</p>`,
    '<p>It got no access. You can report this to its makers.</p>',
    '<p>Return only if you have just started this in an app that you trust.</p>',
    `<p><a href="${escapeHtml(returnTo)}" rel="noreferrer">Return to ${escapeHtml(host)}</a></p>`,
  ];
  return htmlPage(name, { title: 'This app cannot be connected', body: body.join('') });
}

function refusal(c: Refusal, error: unknown): never {
  if (!(error instanceof ProtocolError)) throw error;
  return c.json({ error: error.code, error_description: error.message }, 400) as never;
}

const show = ({ sessionId, userId, app, createdAt, lastUsedAt }: Session) => ({
  sessionId,
  userId,
  name: app!.name,
  redirectHost: app!.host,
  scope: app!.scope,
  createdAt,
  lastUsedAt,
});
