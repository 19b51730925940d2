import { failedStep, type WriteStep } from '@stak/table';
import { accountsErrors } from '../../errors.ts';
import type { Profile } from '../../main-table.ts';
import { type Codes, codeWrong } from './codes.ts';
import { type PasskeyAnswer, type PasskeyChecks, passkeyRefused } from './passkey-check.ts';
import { hasFactor } from './tables.ts';

export type FactorProof = { code?: string; passkey?: PasskeyAnswer };
type FactorChecks = { codes: Codes; passkeys: PasskeyChecks };

// Steps for the transaction that the factor authorises. None for an account without a second factor, whatever the
// caller sent.
export async function factorSteps(
  { codes, passkeys }: FactorChecks,
  user: Profile,
  { code, passkey }: FactorProof,
  bound: Parameters<PasskeyChecks['use']>[2],
): Promise<Record<string, WriteStep>> {
  if (!hasFactor(user)) return {};
  if (passkey) return passkeys.use(user.userId, passkey, bound);
  if (code !== undefined) return codes.useSteps(user.userId, code);
  const hasApp = user.secondFactor !== undefined;
  const hasPasskey = (user.passkeys ?? 0) > 0;
  throw accountsErrors.create(
    'accounts.code_required',
    hasApp ? 'Enter the code of your authenticator app.' : 'Use a passkey, or enter a recovery code.',
    { factors: [...(hasApp ? ['app'] : []), ...(hasPasskey ? ['passkey'] : [])] },
  );
}

// Maps a failed transaction to the factor's error, if the factor was the cause.
export function explainFactor(error: unknown): unknown {
  const { step } = failedStep(error) ?? {};
  if (step === 'the code') return codeWrong();
  return step === 'the passkey' ? passkeyRefused(error) : error;
}
