import { type Clock, createRecentMap, type MaybePromise } from '@stak/kit';
import { errors, type JWTVerifyGetKey, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { type AppScope, appScopeSchema, mcpResource } from '../../app-scopes.ts';
import { inSeconds } from '../../deps.ts';
import * as limits from '../../limits.ts';
import { isLoopback } from '../../loopback.ts';
import { endUserScopeSchema } from '../../schema.ts';
import type { SigningKeys } from './signing-keys.ts';

export type EndUserGrant = {
  tenant: string;
  sub: string;
  scope: string;
  ttlSeconds?: number;
  // The tenant's revocation count at minting, compared when the token is verified.
  epoch?: number;
  // The session or key of the account `sub` that requested it. The token ends with it.
  credentialId?: string;
  person?: string; // the person whose session it is, if `sub` is an organisation
  session?: string; // of a tenant's portal: services/tenants knows whether it is valid
};

type AccessClaims = { kind: 'account'; userId: string; sessionId: string };
export type EndUserClaims = {
  kind: 'endUser';
  tenant: string;
  sub: string;
  scope: string;
  epoch: number | undefined;
  credentialId: string | undefined;
  person?: string;
  session?: string;
  issuedAt: number;
};
// For an app that a person approved: valid for one resource only.
type AppClaims = { kind: 'app'; userId: string; sessionId: string; scope: AppScope; resource: string };
export type Claims = AccessClaims | EndUserClaims | AppClaims;

export type Minted = { token: string; expiresIn: number };

export type Tokens = {
  mintAccess(whose: { userId: string; sessionId: string }): Promise<Minted>;
  mintApp(app: { userId: string; sessionId: string; clientId: string; scope: AppScope }): Promise<Minted>;
  mintEndUser(grant: EndUserGrant): Promise<Minted>;
  // `digest` is any hash of the token, used to cache it as verified until it expires.
  verify(token: string, digest: string): MaybePromise<Claims | undefined>;
};

const accountAudience = 'stak:account';
const endUserAudience = 'stak:end-user';

// The audience states the purpose of a token, so that no kind passes for another.
const payloadSchema = z.union([
  z.object({ aud: z.literal(accountAudience), sub: z.string(), sid: z.string(), exp: z.int() }),
  z.object({
    aud: z.literal(endUserAudience),
    sub: z.string(),
    tenant: z.string(),
    scope: endUserScopeSchema,
    epoch: z.int().optional(),
    cid: z.string().optional(),
    pid: z.string().optional(),
    psid: z.string().optional(),
    iat: z.int(),
    exp: z.int(),
  }),
  z.object({
    aud: z.string().regex(/^https?:/),
    sub: z.string(),
    sid: z.string(),
    scope: appScopeSchema,
    exp: z.int(),
  }),
]);

const grantSchema = z.object({
  tenant: z.string().min(1).max(limits.endUserIdChars),
  sub: z.string().min(1).max(limits.endUserIdChars),
  scope: endUserScopeSchema,
  ttlSeconds: z.int().min(1).max(limits.endUserTokenMostS).default(limits.endUserTokenS),
  epoch: z.int().min(0).optional(),
  credentialId: z.string().min(1).max(limits.endUserIdChars).optional(),
  person: z.string().min(1).max(limits.endUserIdChars).optional(),
  session: z.string().min(1).max(limits.endUserIdChars).optional(),
});

type Verified = { claims: Claims; kid: string; expiresMs: number };

export function createTokens(deps: { clock: Clock; issuer: string; keys: SigningKeys }): Tokens {
  const { clock, issuer, keys } = deps;
  const verified = createRecentMap<string, Verified>(limits.verifiedTokens);
  // A server that is only reachable locally may have another port after each start. Its keys come from its store either
  // way.
  const isIssuer = (iss: string | undefined): boolean =>
    iss === issuer || (iss !== undefined && URL.canParse(iss) && isLoopback(iss) && isLoopback(issuer));

  const sign = async (payload: Record<string, unknown>, aud: string, sub: string, expiresIn: number) => {
    const { kid, key } = await keys.current();
    const iat = inSeconds(clock.now());
    const token = await new SignJWT(payload)
      .setProtectedHeader({ alg: 'ES256', kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(aud)
      .setSubject(sub)
      .setIssuedAt(iat)
      .setExpirationTime(iat + expiresIn)
      .sign(key);
    return { token, expiresIn };
  };

  const keyFor: JWTVerifyGetKey = async ({ kid }) => {
    const key = kid === undefined ? undefined : await keys.find(kid);
    if (!key) throw new errors.JWKSNoMatchingKey();
    return key;
  };

  const verifyNew = async (token: string): Promise<Verified | undefined> => {
    const currentDate = new Date(clock.now());
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keyFor, {
        algorithms: ['ES256'],
        currentDate,
      });
      const parsed = payloadSchema.safeParse(payload);
      if (!parsed.success || !isIssuer(payload.iss)) return undefined;
      return { claims: claimsOf(parsed.data), kid: protectedHeader.kid!, expiresMs: parsed.data.exp * 1000 };
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  };

  const verifyAndKeep = async (token: string, digest: string): Promise<Claims | undefined> => {
    const fresh = await verifyNew(token);
    if (fresh) verified.set(digest, fresh);
    return fresh?.claims;
  };

  return {
    mintAccess: ({ userId, sessionId }) =>
      sign({ sid: sessionId }, accountAudience, userId, limits.accessTokenS),
    mintApp: ({ userId, sessionId, clientId, scope }) =>
      sign({ sid: sessionId, client_id: clientId, scope }, mcpResource(issuer), userId, limits.accessTokenS),
    mintEndUser(grant) {
      const parsed = grantSchema.parse(grant);
      const { tenant, sub, scope, ttlSeconds, epoch, credentialId: cid, person, session } = parsed;
      const claims = {
        tenant,
        scope,
        ...(epoch !== undefined && { epoch }),
        ...(cid !== undefined && { cid }),
        ...(person !== undefined && person !== sub && { pid: person }),
        ...(session !== undefined && { psid: session }),
      };
      return sign(claims, endUserAudience, sub, ttlSeconds);
    },
    verify(token, digest) {
      const cached = verified.get(digest);
      if (!cached || !keys.isPublished(cached.kid)) return verifyAndKeep(token, digest);
      if (cached.expiresMs > clock.now()) return cached.claims;
      verified.delete(digest);
      return undefined;
    },
  };
}

function claimsOf(payload: z.infer<typeof payloadSchema>): Claims {
  if (!('sid' in payload)) return endUserClaims(payload);
  const { aud, sub: userId, sid: sessionId } = payload;
  if (!('scope' in payload)) return { kind: 'account', userId, sessionId };
  return { kind: 'app', userId, sessionId, scope: payload.scope, resource: aud };
}

function endUserClaims(payload: Extract<z.infer<typeof payloadSchema>, { tenant: string }>): EndUserClaims {
  const { tenant, sub, scope, epoch, cid, pid, psid, iat } = payload;
  return {
    kind: 'endUser',
    tenant,
    sub,
    scope,
    epoch,
    credentialId: cid,
    ...(pid !== undefined && { person: pid }),
    ...(psid !== undefined && { session: psid }),
    issuedAt: iat,
  };
}
