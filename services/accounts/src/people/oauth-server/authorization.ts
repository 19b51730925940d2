import { randomBytes } from 'node:crypto';
import type { AccountPrincipal } from '@stak/http';
import { SealError, type Sealer } from '@stak/kit';
import { failedStep, is, write } from '@stak/table';
import { z } from 'zod';
import type { Memberships } from '../../access/memberships.ts';
import {
  type AppScope,
  appScopeSchema,
  mcpResource,
  narrowest,
  parseScope,
  scopeText,
} from '../../app-scopes.ts';
import { type Audit, doneBy } from '../../audit.ts';
import { type Base, inSeconds, sha256 } from '../../deps.ts';
import { accountsErrors, organisationNotFound } from '../../errors.ts';
import type { Origin } from '../../origin.ts';
import { type Role, roles } from '../../roles.ts';
import type { Users } from '../../users/users.ts';
import { findClient } from './clients.ts';
import * as limits from './limits.ts';
import { ProtocolError } from './protocol.ts';
import { describeRedirect, matchesRedirectUri, redirectTo } from './redirect-uri.ts';
import { authorizationCode, oauthClient } from './tables.ts';

export type AuthorizationDeps = Pick<Base, 'store' | 'clock' | 'ids'> & {
  sealer: Sealer;
  audit: Audit;
  memberships: Memberships;
  users: Users;
  publicUrl: string;
};

// A validated request of an app. It passes through the browser, encrypted, so the decision applies to the request that
// was shown, and nothing is stored for people who never decide.
const requestSchema = z.object({
  clientId: z.string(),
  clientName: z.string(),
  redirectUri: z.string(),
  scope: appScopeSchema,
  codeChallenge: z.string(),
  state: z.string().optional(),
  endsAtMs: z.int(),
});
type AppRequest = z.infer<typeof requestSchema>;

const requestLocation = 'oauth-server/request';
const challengeShape = /^[A-Za-z0-9_-]{43}$/;

const unknownApp = () =>
  accountsErrors.create(
    'accounts.app_unknown',
    'This app is not registered, or its registration has expired. Remove the connection in the app and connect again.',
  );
const requestOver = () =>
  accountsErrors.create(
    'accounts.app_request_expired',
    'This request is incomplete or has expired. Start again in the app.',
  );

/** Why an app's request is invalid, and the redirect that would report it to the app. */
export type WrongRequest = { message: string; host: string; returnTo: string };

/**
 * Returns the address of the consent page, or what is wrong with the request. Browsers do not send the session cookie
 * with a link from another site, so the person is unknown here. Since anyone can register an app, an invalid request does
 * not redirect to it (docs/adr/0137).
 */
export async function startAuthorization(
  deps: AuthorizationDeps,
  query: Readonly<Record<string, unknown>>,
): Promise<string | WrongRequest> {
  const text = (name: string): string | undefined => {
    const value = query[name];
    return typeof value === 'string' && value.length <= limits.parameterChars ? value : undefined;
  };
  // Until the redirect URI is known to be the app's own, errors must not redirect there.
  const client = await findClient(deps, text('client_id'));
  if (!client) throw unknownApp();
  const redirectUri = text('redirect_uri');
  if (redirectUri === undefined || !matchesRedirectUri(client.redirectUris, redirectUri))
    throw accountsErrors.create(
      'accounts.app_redirect_refused',
      'The app has not registered this redirect URI.',
    );
  const { clientId, clientName } = client;
  const state = text('state');
  try {
    const asked = readRequest(query, text, mcpResource(deps.publicUrl));
    const endsAtMs = deps.clock.now() + limits.requestS * 1000;
    const request: AppRequest = { clientId, clientName, redirectUri, state, endsAtMs, ...asked };
    return `/console/authorize?request=${deps.sealer.seal(JSON.stringify(request), requestLocation)}`;
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const { code, message } = error;
    const told = { error: code, error_description: message, state, iss: deps.publicUrl };
    return { message, host: describeRedirect(redirectUri), returnTo: redirectTo(redirectUri, told) };
  }
}

function readRequest(
  query: Readonly<Record<string, unknown>>,
  text: (name: string) => string | undefined,
  resource: string,
): Pick<AppRequest, 'scope' | 'codeChallenge'> {
  for (const name of Object.keys(query))
    if (text(name) === undefined)
      throw new ProtocolError(
        'invalid_request',
        `Send each parameter once, with at most ${limits.parameterChars} characters.`,
      );
  if (text('response_type') !== 'code')
    throw new ProtocolError('unsupported_response_type', 'The only response_type is code.');
  const codeChallenge = text('code_challenge');
  if (text('code_challenge_method') !== 'S256' || !codeChallenge || !challengeShape.test(codeChallenge))
    throw new ProtocolError('invalid_request', 'Send a code_challenge with the method S256.');
  const scope = parseScope(text('scope'));
  if (scope === undefined)
    throw new ProtocolError('invalid_scope', 'An app gets the scopes read and write, and no other.');
  checkResource(text('resource') ?? resource, resource);
  return { scope, codeChallenge };
}

/** Tokens are valid for one resource. Clients may name it with or without a trailing slash. */
export function checkResource(named: string, resource: string): void {
  if (named !== resource && named !== `${resource}/`)
    throw new ProtocolError('invalid_target', `The only resource is ${resource}.`);
}

function openRequest({ sealer, clock }: AuthorizationDeps, sealed: string): AppRequest {
  let text: string;
  try {
    text = sealer.openText(sealed, requestLocation);
  } catch (error) {
    if (error instanceof SealError) throw requestOver();
    throw error;
  }
  const request = requestSchema.parse(JSON.parse(text));
  if (request.endsAtMs <= clock.now()) throw requestOver();
  return request;
}

type Decider = AccountPrincipal & { userId: string; role?: string };

async function roleOf({ memberships }: AuthorizationDeps, { accountId, userId }: Decider): Promise<Role> {
  const role = await memberships.roleIn(accountId, userId);
  if (role === undefined) throw organisationNotFound();
  return role;
}

/** Describes the request to the person who decides about it. */
export async function describeRequest(deps: AuthorizationDeps, sealed: string, person: Decider) {
  const { clientName, redirectUri, scope } = openRequest(deps, sealed);
  const { accountId } = person;
  const role = await roleOf(deps, person);
  const organisation =
    (await deps.memberships.read(accountId))?.name ?? (await deps.users.readProfile(accountId))?.name;
  return {
    name: clientName,
    redirectHost: describeRedirect(redirectUri),
    scope,
    mostScope: narrowest(scope, roles[role].scope),
    accountId,
    organisation: organisation ?? accountId,
  };
}

type Decision = { request: string; accountId: string; approved: boolean; scope?: AppScope };

/** Records the decision and returns the app's redirect URI with the result. */
export async function decideRequest(
  deps: AuthorizationDeps,
  { request: sealed, accountId, approved, scope: chosen = 'write' }: Decision,
  person: Decider,
  origin: Origin,
): Promise<string> {
  const { store, clock, ids, audit, publicUrl: iss } = deps;
  const { clientId, clientName, redirectUri, scope: asked, codeChallenge, state } = openRequest(deps, sealed);
  if (accountId !== person.accountId)
    throw accountsErrors.create(
      'accounts.changed',
      'You have since switched to another organisation. Reload the page.',
    );
  if (!approved) return redirectTo(redirectUri, { error: 'access_denied', state, iss });

  const scope = narrowest(asked, chosen, roles[await roleOf(deps, person)].scope);
  const code = randomBytes(32).toString('base64url');
  const sessionId = ids.next('ses');
  const now = inSeconds(clock.now());
  const entry = { ...doneBy(person, origin), action: 'app.approved', target: sessionId };
  const host = describeRedirect(redirectUri);
  const steps = {
    'the client': write.update(
      oauthClient,
      { clientId },
      { set: { expiresAt: now + limits.clientUsedS } },
      { if: { expiresAt: is.above(now) } },
    ),
    'the code': write.put(
      authorizationCode,
      {
        codeHash: sha256(code),
        clientId,
        clientName,
        redirectUri,
        codeChallenge,
        scope,
        userId: person.userId,
        accountId,
        sessionId,
        approvedIn: person.credentialId,
        endsAtMs: clock.now() + limits.codeMs,
        expiresAt: now + limits.codeListedS,
      },
      { ifAbsent: true },
    ),
    audit: audit.step(accountId, { ...entry, detail: `${clientName} at ${host} (${scopeText(scope)})` }),
  };
  await store.transact(steps, { pattern: 'approve an app' }).catch(error => {
    throw failedStep(error)?.step === 'the client' ? unknownApp() : error;
  });
  return redirectTo(redirectUri, { code, state, iss });
}
