import { is, tableErrors } from '@stak/table';
import { type Base, inSeconds } from '../../deps.ts';
import { oauthStateS } from '../../limits.ts';
import { oauthState } from '../../main-table.ts';
import { isSameText, newAttemptSecret, secretsOf, stateHashOf } from './attempt-secrets.ts';
import { refuse } from './errors.ts';
import type { Provider, ProviderName, Secrets } from './provider.ts';

export type Started = { secret: string; url: URL };
// `organisationId` is set for an organisation's or a tenant's own provider, and is the id of either.
export type AttemptOf = { name: ProviderName | 'organisation' | 'tenant'; organisationId?: string };
// The signed-in person, if the attempt links an identity instead of signing in.
export type Linker = { userId: string; sessionId: string };
export type Returned = { secrets: Secrets; returnTo: string; linker?: Linker };

// Stores the attempt and returns the provider's address, and the secret for the browser's cookie.
export async function startAttempt(
  { store, clock }: Pick<Base, 'store' | 'clock'>,
  provider: Provider,
  given: AttemptOf & { redirectUri: string; returnTo: string; linker?: Linker },
): Promise<Started> {
  const secret = newAttemptSecret();
  const secrets = secretsOf(secret);
  const url = await provider.authorizationUrl(secrets, given.redirectUri);
  await store.put(oauthState, {
    stateHash: stateHashOf(secrets.state),
    provider: given.name,
    organisationId: given.organisationId,
    returnTo: given.returnTo,
    linkUserId: given.linker?.userId,
    linkSessionId: given.linker?.sessionId,
    expiresAt: inSeconds(clock.now()) + oauthStateS,
  });
  return { secret, url };
}

// Called when the browser returns. The attempt is deleted before it is used, so that it works only once, even if the
// sign-in fails.
export async function takeAttempt(
  { store }: Pick<Base, 'store'>,
  {
    secret,
    state,
    name,
    organisationId = is.absent,
  }: Omit<AttemptOf, 'organisationId'> & {
    secret: string | undefined;
    state: string | undefined;
    organisationId?: string | typeof is.absent;
  },
): Promise<Returned> {
  if (secret === undefined || state === undefined) throw attemptOver();
  const secrets = secretsOf(secret);
  if (!isSameText(secrets.state, state)) throw attemptOver();
  try {
    const key = { stateHash: stateHashOf(state) };
    const taken = await store.delete(oauthState, key, {
      ifPresent: true,
      if: { provider: name, organisationId },
    });
    if (!taken) throw attemptOver();
    const { returnTo, linkUserId: userId, linkSessionId: sessionId } = taken;
    const linker = userId !== undefined && sessionId !== undefined ? { userId, sessionId } : undefined;
    return { secrets, returnTo, linker };
  } catch (error) {
    throw tableErrors.includes(error) && error.code === 'table.condition_failed' ? attemptOver() : error;
  }
}

export const attemptOver = () =>
  refuse(
    'accounts.sign_in_expired',
    'This sign-in did not begin in this browser, was used already, or took too long. Start again.',
  );
