import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Secrets } from './provider.ts';

// State, verifier and nonce of a sign-in are derived from one secret that only the browser keeps. Without its cookie, a
// client can neither produce the state nor redeem the code, and the server stores none of them.
export const newAttemptSecret = (): string => randomBytes(32).toString('base64url');

const derive = (secret: string, purpose: string): string =>
  createHmac('sha256', secret).update(`stak sign-in ${purpose}`).digest('base64url');

export const secretsOf = (secret: string): Secrets => ({
  state: derive(secret, 'state'),
  verifier: derive(secret, 'verifier'), // 43 characters, the minimum of RFC 7636
  nonce: derive(secret, 'nonce'),
});

// The key of a stored attempt. A hash, so that a reader of the table does not learn the state.
export const stateHashOf = (state: string): string => createHash('sha256').update(state).digest('base64url');

export const isSameText = (a: string, b: string): boolean =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
