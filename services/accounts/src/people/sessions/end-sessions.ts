import { failedStep, type WriteStep, write } from '@stak/table';
import { accountsErrors } from '../../errors.ts';
import * as limits from '../../limits.ts';
import { type Session, session } from '../../main-table.ts';
import { deletion, readSession, type SessionsDeps } from './session-item.ts';

type Also = Readonly<Record<string, WriteStep>>;

// For a transaction that ends sessions. Call `forget` when it has committed.
export type Ending = { steps: [string, WriteStep][]; forget(): void };

// Returns false if the session no longer exists.
export async function revokeSession(
  deps: SessionsDeps,
  userId: string,
  sessionId: string,
  also: Also = {},
): Promise<boolean> {
  const { store, standings, announceEnd } = deps;
  const steps = {
    'the session': write.delete(session, { userId, sessionId }, { ifPresent: true }),
    ...also,
  };
  await announceEnd(userId, (await readSession(deps, userId, sessionId))?.accountId);
  try {
    await store.transact(steps, { pattern: 'end session' });
  } catch (error) {
    if (failedStep(error)?.step === 'the session') return false;
    throw error;
  } finally {
    standings.forget(sessionId);
  }
  return true;
}

export async function planEnding(
  { store, standings, announceEnd }: SessionsDeps,
  ended: readonly Session[],
): Promise<Ending> {
  if (ended[0]) await announceEnd(ended[0].userId, ...ended.map(session => session.accountId));
  // Concurrent sign-ins can exceed the limit. Sessions that do not fit in the transaction are ended first.
  const surplus = ended.slice(limits.sessionsPerUser);
  if (surplus.length > 0) await store.batchWrite(surplus.map(deletion), { pattern: 'end all sessions' });
  return {
    steps: ended
      .slice(0, limits.sessionsPerUser)
      .map(session => [`end ${session.sessionId}`, deletion(session)]),
    forget: () => {
      for (const session of ended) standings.forget(session.sessionId);
    },
  };
}

// Repeats until no session is left: a thief who keeps switching organisations has a new session by the time the
// previous one is ended.
export async function endSessions(
  deps: SessionsDeps,
  listEnded: () => Promise<readonly Session[]>,
  also: Also = {},
): Promise<void> {
  let rest = Object.entries(also);
  for (let left = limits.endingRounds; left > 0; left--) {
    const ended = await listEnded();
    if (ended.length === 0 && rest.length === 0) return;
    const { steps, forget } = await planEnding(deps, ended);
    await deps.store.transact([...steps, ...rest], { pattern: 'end all sessions' });
    rest = [];
    forget();
  }
  throw accountsErrors.create('accounts.changed', 'Sessions are being started all the time. Try again.');
}
