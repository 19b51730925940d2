import { createHmac, timingSafeEqual } from 'node:crypto';

// A refresh token names its session and its generation, and proves itself by a code made with the session's own
// key. So every token the session ever had can be told from an invented one: an old one means that two hold the
// session, an invented one means nothing and must not end it. And the token of a generation is always the same:
// answering a lost answer again forks no family.
export type RefreshClaim = { userId: string; sessionId: string; generation: number; code: string };

const shape = /^fhr_([a-z0-9_]{1,40})\.([a-z0-9_]{1,40})\.([0-9]{1,9})\.([A-Za-z0-9_-]{43})$/;

const codeOf = (key: Uint8Array, sessionId: string, generation: number): string =>
  createHmac('sha256', key).update(`${sessionId}.${generation}`).digest('base64url');

export const refreshToken = (
  key: Uint8Array,
  { userId, sessionId, generation }: Omit<RefreshClaim, 'code'>,
): string => `fhr_${userId}.${sessionId}.${generation}.${codeOf(key, sessionId, generation)}`;

export function parseRefreshToken(token: string): RefreshClaim | undefined {
  const match = shape.exec(token);
  if (!match) return undefined;
  return { userId: match[1]!, sessionId: match[2]!, generation: Number(match[3]), code: match[4]! };
}

export function isGenuine(key: Uint8Array, { sessionId, generation, code }: RefreshClaim): boolean {
  const expected = Buffer.from(codeOf(key, sessionId, generation));
  const given = Buffer.from(code);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
