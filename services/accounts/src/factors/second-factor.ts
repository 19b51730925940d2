import { failedStep, type WriteStep } from '@stak/table';
import { accountsErrors } from '../errors.ts';
import type { Profile } from '../table.ts';
import { type Codes, codeWrong } from './codes.ts';
import { type PasskeyAnswer, type PasskeyChecks, passkeyRefused } from './passkey-check.ts';
import { hasFactor } from './table.ts';

export type Shown = { code?: string; passkey?: PasskeyAnswer };
type FactorChecks = { codes: Codes; passkeys: PasskeyChecks };

// For the transaction of what the factor is shown for. None for an account without one, whatever it is given.
export async function factorSteps(
  { codes, passkeys }: FactorChecks,
  user: Profile,
  { code, passkey }: Shown,
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

// What failed in the transaction, if it was the factor.
export function explainFactor(error: unknown): unknown {
  const { step } = failedStep(error) ?? {};
  if (step === 'the code') return codeWrong();
  return step === 'the passkey' ? passkeyRefused(error) : error;
}
