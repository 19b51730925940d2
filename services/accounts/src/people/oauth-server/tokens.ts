import { createHash, timingSafeEqual } from 'node:crypto';
import { failedCondition, failedStep, is, write } from '@stak/table';
import type { Memberships } from '../../access/memberships.ts';
import { mcpResource, parseScope, scopeText } from '../../app-scopes.ts';
import type { Audit } from '../../audit.ts';
import { type Base, sha256 } from '../../deps.ts';
import { accountsErrors } from '../../errors.ts';
import { session } from '../../main-table.ts';
import type { Origin } from '../../origin.ts';
import type { SignedIn } from '../sessions/session-item.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Tokens } from '../sessions/tokens.ts';
import { checkResource } from './authorization.ts';
import { ProtocolError } from './protocol.ts';
import { describeRedirect } from './redirect-uri.ts';
import { type AuthorizationCode, authorizationCode } from './tables.ts';

export type AppTokensDeps = Pick<Base, 'store' | 'clock' | 'log'> & {
  sessions: Sessions;
  memberships: Memberships;
  tokens: Tokens;
  audit: Audit;
  publicUrl: string;
};

type Form = Readonly<Record<string, string>>;

const verifierShape = /^[A-Za-z0-9\-._~]{43,128}$/;

const refused = () =>
  new ProtocolError(
    'invalid_grant',
    'It is not valid, has expired, or was used before. Authorize the app again.',
  );

/** Exchanges a code or a refresh token for tokens. */
export async function grantTokens(deps: AppTokensDeps, form: Form, origin: Origin) {
  const { client_id: clientId, grant_type: grantType, resource } = form;
  if (clientId === undefined) throw new ProtocolError('invalid_request', 'Send the client_id.');
  if (resource !== undefined) checkResource(resource, mcpResource(deps.publicUrl));
  if (grantType === 'authorization_code') return shown(await redeemCode(deps, clientId, form, origin));
  if (grantType === 'refresh_token') return shown(await refresh(deps, clientId, form, origin));
  throw new ProtocolError('unsupported_grant_type', 'The grant_type is authorization_code or refresh_token.');
}

const shown = ({ accessToken, expiresIn, refreshToken, scope = 'read' }: SignedIn) => ({
  access_token: accessToken,
  token_type: 'Bearer' as const,
  expires_in: expiresIn,
  refresh_token: refreshToken,
  scope: scopeText(scope),
});

async function redeemCode(
  deps: AppTokensDeps,
  clientId: string,
  { code, redirect_uri: redirectUri, code_verifier: verifier }: Form,
  origin: Origin,
): Promise<SignedIn> {
  const { store, clock, sessions, memberships } = deps;
  if (code === undefined || redirectUri === undefined || verifier === undefined)
    throw new ProtocolError('invalid_request', 'Send code, redirect_uri and code_verifier.');
  const codeHash = sha256(code);
  const grant = await store.get(authorizationCode, { codeHash }, { consistent: true });
  if (!grant) throw refused();
  if (grant.usedAtMs !== undefined) return endReused(deps, grant, origin);
  const isMeant =
    grant.clientId === clientId &&
    grant.redirectUri === redirectUri &&
    grant.endsAtMs > clock.now() &&
    isVerifier(verifier, grant.codeChallenge);
  if (!isMeant) throw refused();
  const { userId, accountId, sessionId, approvedIn, clientName: name, scope } = grant;
  if (!(await memberships.roleIn(accountId, userId))) throw refused();
  const use = write.update(
    authorizationCode,
    { codeHash },
    { set: { usedAtMs: clock.now() } },
    { if: { usedAtMs: is.absent, endsAtMs: is.present } },
  );
  // A thief who approves an app must not keep it when the owner ends the thief's session, by a new password or otherwise.
  const approval = approvedIn !== undefined && {
    'the approval': write.check(session, { userId, sessionId: approvedIn }, { present: true }),
  };
  const app = { clientId, name, host: describeRedirect(redirectUri), scope };
  try {
    const who = { userId, signedInWith: 'app', origin, within: accountId, sessionId, app } as const;
    return await sessions.start({ ...who, also: { 'the code': use, ...approval } });
  } catch (error) {
    // Only one of several concurrent uses of a code succeeds. The others fail at two steps: the code and the session
    // that it became.
    if (failedCondition(error, 'the code')) return endReused(deps, grant, origin);
    const { step } = failedStep(error) ?? {};
    // The person left the organisation, the account was closed, or the session of the approval has ended.
    const isOver = ['the user', 'the member', 'the account', 'the approval'].includes(step ?? '');
    throw isOver ? refused() : error;
  }
}

// Two parties have the code, and we cannot tell which one is the app, so the tokens end (RFC 6749, 4.1.2).
async function endReused(
  { sessions, audit, log }: AppTokensDeps,
  { userId, accountId, sessionId, clientId }: AuthorizationCode,
  { address, requestId }: Origin,
): Promise<never> {
  log.warn({ userId, sessionId, clientId }, 'an authorization code was used twice: its tokens are revoked');
  const entry = { action: 'app.reused', via: 'app', by: null, credentialId: sessionId, address, requestId };
  await sessions.revoke(userId, sessionId, {
    audit: audit.step(accountId, { ...entry, target: sessionId }),
  });
  throw refused();
}

async function refresh(
  { sessions }: AppTokensDeps,
  clientId: string,
  { refresh_token: token, scope: text }: Form,
  origin: Origin,
): Promise<SignedIn> {
  if (token === undefined) throw new ProtocolError('invalid_request', 'Send the refresh_token.');
  const scope = parseScope(text);
  if (scope === undefined)
    throw new ProtocolError('invalid_scope', 'An app gets the scopes read and write, and no other.');
  // A refresh cannot widen the scope (RFC 6749, 6). A request for less returns the scope that the app has.
  const isMore = scope === 'write' && (await sessions.readByToken(token))?.app?.scope === 'read';
  if (isMore) throw new ProtocolError('invalid_scope', 'The app was not given this scope.');
  try {
    return await sessions.refresh(token, origin, clientId);
  } catch (error) {
    const isRefused = accountsErrors.includes(error) && error.code === 'accounts.refresh_refused';
    throw isRefused ? refused() : error;
  }
}

/** Ends the session of an access or refresh token. An invalid token is not an error (RFC 7009). */
export async function revokeToken(
  { sessions, tokens, audit }: AppTokensDeps,
  { token, client_id: clientId }: Form,
  { address, requestId }: Origin,
): Promise<void> {
  if (token === undefined) throw new ProtocolError('invalid_request', 'Send the token.');
  if (clientId === undefined) throw new ProtocolError('invalid_request', 'Send the client_id.');
  const claims = (await sessions.readByToken(token)) ?? (await tokens.verify(token, sha256(token)));
  if (!claims || !('sessionId' in claims)) return;
  const { userId, sessionId } = claims;
  const session = await sessions.read(userId, sessionId);
  if (session?.app?.clientId !== clientId) return;
  const entry = { action: 'app.ended', via: 'app', by: userId, credentialId: sessionId, address, requestId };
  await sessions.revoke(userId, sessionId, {
    audit: audit.step(session.accountId ?? userId, { ...entry, target: sessionId }),
  });
}

function isVerifier(verifier: string, challenge: string): boolean {
  if (!verifierShape.test(verifier)) return false;
  const made = createHash('sha256').update(verifier).digest();
  const expected = Buffer.from(challenge, 'base64url');
  return made.length === expected.length && timingSafeEqual(made, expected);
}
