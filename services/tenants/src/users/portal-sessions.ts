import { type NamedStep, write } from '@stak/table';
import type { Service } from '../deps.ts';
import { portalSession, sessionsOfUser } from '../tables.ts';
import type { Holdings } from './user-locks.ts';

// Sessions of the portal begin with a mail to the user's address, or with their identity at the tenant's provider. Whoever
// had what the user has no longer may be somebody else.

export const openidChannel = 'openid';

/** Whether something by which the user signed in is no longer theirs. */
export function losesProof(before: Holdings, after: Holdings): boolean {
  const [had, has] = [before, after].map(one => ({
    email: one.email?.toLowerCase(),
    identity: one.channel_identities[openidChannel],
  })) as [Proof, Proof];
  return (
    (had.email !== undefined && had.email !== has.email) ||
    (had.identity !== undefined && had.identity !== has.identity)
  );
}
type Proof = { email: string | undefined; identity: string | undefined };

type Person = { tenant_id: string; user_id: string };

export async function endSessions(deps: Service, person: Person): Promise<void> {
  const { steps, forget } = await stepsToEndSessions(deps, person);
  if (steps.length > 0) await deps.store.transact(steps, { pattern: 'end sessions' });
  forget();
}

/** Steps that end all sessions of a user, and a function to call when they have ended. */
export async function stepsToEndSessions(
  { store, epochs }: Service,
  person: Person,
): Promise<{ steps: NamedStep[]; forget(): void }> {
  const ids: string[] = [];
  for await (const { session_id } of store.all(sessionsOfUser, person)) ids.push(session_id);
  return {
    steps: ids.map(session_id => [
      `end the session ${session_id}`,
      write.delete(portalSession, { ...person, session_id }),
    ]),
    forget() {
      for (const id of ids) epochs.forgetSession(id);
    },
  };
}
