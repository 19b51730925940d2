import { randomBytes } from 'node:crypto';
import { failedStep, is, type WriteStep, write } from '@stak/table';
import { z } from 'zod';
import { type Base, inSeconds, isoTime, sha256 } from '../../deps.ts';
import { accountsErrors } from '../../errors.ts';
import type { Outbox } from '../../notices/outbox.ts';
import * as limits from './limits.ts';
import { mailedToken, type TokenPurpose } from './tables.ts';

// The token contains the account's id, so that it is found by a read. The table stores a hash of the secret part.
const shape = /^(usr_[A-Za-z0-9_-]{1,40})\.([A-Za-z0-9_-]{43})$/;

export const mailedTokenSchema = z
  .string()
  .min(1)
  .max(limits.tokenChars)
  .describe('The token from the link in the mail');
export type MailedToken = { userId: string; hash: string };
type NewPerson = { name: string; passwordHash: string };

export const newToken = (userId: string): { text: string; hash: string } => {
  const secret = randomBytes(32).toString('base64url');
  return { text: `${userId}.${secret}`, hash: sha256(secret) };
};

export function parseToken(text: string): MailedToken {
  const match = text.length <= limits.tokenChars ? shape.exec(text) : null;
  if (!match) throw tokenRefused();
  return { userId: match[1]!, hash: sha256(match[2]!) };
}

// Maps the failed transaction of a change that uses up a token.
export function refuseUsedToken(error: unknown): never {
  throw failedStep(error)?.step === 'the token' ? tokenRefused() : error;
}

// The same error for an unknown, a used and an expired token.
export const tokenRefused = () =>
  accountsErrors.create(
    'accounts.token_refused',
    'This link was used already, has expired, or was replaced by a newer one. Request another.',
  );

export function tokenSteps(
  { clock }: Pick<Base, 'clock'>,
  made: {
    userId: string;
    purpose: TokenPurpose;
    hash: string;
    email: string;
    lifeS: number;
    person?: NewPerson;
    isHandedOver?: boolean;
  },
): Record<string, WriteStep> {
  const { userId, purpose, hash: tokenHash, email, lifeS, person, isHandedOver } = made;
  const nowMs = clock.now();
  const item = {
    userId,
    purpose,
    tokenHash,
    email,
    person,
    isHandedOver,
    createdAt: isoTime(nowMs),
    expiresAt: inSeconds(nowMs) + lifeS,
  };
  return { 'a token': write.put(mailedToken, item) };
}

// Returns the token's address, whether it was mailed there, and the person who signs up with it. Reads only: `useStep`
// uses the token up, in the transaction of the change that it authorises.
export async function findToken(
  { store }: Pick<Base, 'store'>,
  { userId, hash }: MailedToken,
  purpose: TokenPurpose,
): Promise<{ email: string; isMailed: boolean; person?: NewPerson }> {
  const storedMailedToken = await store.get(mailedToken, { userId, purpose }, { consistent: true });
  if (!storedMailedToken || storedMailedToken.tokenHash !== hash) throw tokenRefused();
  const { email, person, isHandedOver = false } = storedMailedToken;
  return { email, isMailed: !isHandedOver, person };
}

export const useStep = (
  { clock }: Pick<Base, 'clock'>,
  { userId, hash }: MailedToken,
  purpose: TokenPurpose,
): WriteStep =>
  write.delete(
    mailedToken,
    { userId, purpose },
    { ifPresent: true, if: { tokenHash: hash, expiresAt: is.above(inSeconds(clock.now())) } },
  );

// Steps that send a verification mail. Empty if this server sends no mail.
export function verificationSteps(
  deps: Pick<Base, 'clock'> & { outbox: Outbox },
  { userId, email }: { userId: string; email: string },
) {
  if (!deps.outbox.isOpen) return {};
  const { text, hash } = newToken(userId);
  return {
    ...tokenSteps(deps, { userId, purpose: 'verify', hash, email, lifeS: limits.verifyS }),
    ...deps.outbox.steps({
      kind: 'email.verify',
      to: email,
      userId,
      token: text,
      keptS: limits.verifyS,
    }),
  };
}
