import { createHmac, timingSafeEqual } from 'node:crypto';

// A refresh token contains its session and generation, authenticated with the session's own key. So every token that
// the session ever had can be told from an invented one: an old token means that two parties hold the session, while an
// invented one means nothing and must not end it. A generation's token is always the same, so repeating a lost response
// does not fork the session. `isApp` marks the token of an approved app, which is refused where people sign in.
export type RefreshClaim = {
  userId: string;
  sessionId: string;
  generation: number;
  isApp?: boolean;
  code: string;
};
type RefreshTokenParts = Omit<RefreshClaim, 'code'>;

const shape = /^fh([ra])_([a-z0-9_]{1,40})\.([a-z0-9_]{1,40})\.([0-9]{1,9})\.([A-Za-z0-9_-]{43})$/;

const codeOf = (key: Uint8Array, { sessionId, generation, isApp }: RefreshTokenParts): string =>
  createHmac('sha256', key)
    .update(`${isApp ? 'app.' : ''}${sessionId}.${generation}`)
    .digest('base64url');

export const refreshToken = (key: Uint8Array, named: RefreshTokenParts): string =>
  `fh${named.isApp ? 'a' : 'r'}_${named.userId}.${named.sessionId}.${named.generation}.${codeOf(key, named)}`;

export function parseRefreshToken(token: string): RefreshClaim | undefined {
  const match = shape.exec(token);
  if (!match) return undefined;
  const [, kind, userId, sessionId, generation, code] = match as unknown as string[];
  return {
    userId: userId!,
    sessionId: sessionId!,
    generation: Number(generation),
    code: code!,
    isApp: kind === 'a',
  };
}

export function isGenuine(key: Uint8Array, claim: RefreshClaim): boolean {
  const expected = Buffer.from(codeOf(key, claim));
  const given = Buffer.from(claim.code);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
