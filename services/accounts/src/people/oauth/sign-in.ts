import { failedStep, is, write } from '@stak/table';
import type { Base } from '../../deps.ts';
import { accountsErrors, disabledError } from '../../errors.ts';
import { profile } from '../../main-table.ts';
import type { Outbox } from '../../notices/outbox.ts';
import type { Origin } from '../../origin.ts';
import type { SignedIn } from '../sessions/session-item.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { deviceSteps } from '../sign-in/devices.ts';
import { attemptOver, type Linker } from './attempts.ts';
import { findAccount, type IdentityClaim, type IdentityDeps, idOf, linkIdentity } from './identities.ts';

export type ProviderSignInDeps = IdentityDeps &
  Pick<Base, 'store' | 'clock'> & { sessions: Sessions; outbox: Outbox };

// The transaction that starts the session checks that the identity is still linked to the account.
export async function signIn(
  deps: ProviderSignInDeps,
  claim: IdentityClaim,
  origin: Origin,
): Promise<SignedIn> {
  const { provider, identity } = claim;
  const user = await findAccount(deps, claim, origin);
  const { userId, disabledAt } = user;
  if (disabledAt !== undefined) throw disabledError();
  const isTheirs = { deletingAt: is.absent, disabledAt: is.absent, [idOf[provider]]: identity.id };
  const userIsGood = write.check(profile, { userId }, { present: true, if: isTheirs });
  try {
    const also = await deviceSteps(deps, user, origin);
    const started = await deps.sessions.start({ userId, signedInWith: provider, origin, userIsGood, also });
    deps.outbox.wake();
    return started;
  } catch (error) {
    if (failedStep(error)?.step !== 'the user') throw error;
    throw accountsErrors.create(
      'accounts.being_deleted',
      'This account is being deleted, or has just been unlinked.',
    );
  }
}

// A linked identity gives lasting access to the account without the second factor. So the user proves that they own the
// account, and verifies the factor, before the attempt starts.
export async function link(
  deps: ProviderSignInDeps,
  claim: IdentityClaim,
  linker: Linker,
  origin: Origin,
): Promise<void> {
  const { userId, sessionId } = linker;
  // The session may have ended while the user was at the provider.
  if (!(await deps.sessions.isLive(userId, sessionId))) throw attemptOver();
  await linkIdentity(deps, { ...claim, userId, credentialId: sessionId }, origin);
}
