import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Secrets } from './provider.ts';

// One secret, kept by the browser only, makes everything a sign-in is bound with. Without the cookie,
// a client can neither answer with the state nor redeem the code, and nothing has to be stored here.
export const newAttemptSecret = (): string => randomBytes(32).toString('base64url');

const derive = (secret: string, purpose: string): string =>
  createHmac('sha256', secret).update(`stak sign-in ${purpose}`).digest('base64url');

export const secretsOf = (secret: string): Secrets => ({
  state: derive(secret, 'state'),
  verifier: derive(secret, 'verifier'), // 43 characters, as RFC 7636 wants at least
  nonce: derive(secret, 'nonce'),
});

// Under which an attempt is stored: a reader of the table learns no state.
export const stateHashOf = (state: string): string => createHash('sha256').update(state).digest('base64url');

export const isSameText = (a: string, b: string): boolean =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
