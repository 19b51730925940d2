import type { Clock, Logger } from '@stak/kit';
import * as limits from '../limits.ts';
import type { Principal } from '../principal.ts';

// The subjects whose streams must be checked again, because a credential is about to be revoked.
export type Revoked =
  | { account: string } // its sessions and keys, and its streams as the owner of a tenant
  | { tenant: string; user?: string }; // all end users of a tenant, or one

type RevocationNotice = { id: string; subject: string };

// Notices that every process sees. A notice is written before the revocation: a process killed in between has revoked
// nothing, and nothing is revoked without a notice.
export type Revocations = {
  announce(...revoked: Revoked[]): Promise<void>;
  recent(): Promise<readonly RevocationNotice[]>;
};

export function subjectOf(revoked: Revoked): string {
  if ('account' in revoked) return `account ${revoked.account}`;
  const { tenant, user } = revoked;
  return user === undefined ? `tenant ${tenant}` : JSON.stringify([tenant, user]);
}

function subjectsOf(principal: Principal): readonly string[] {
  if (principal.kind === 'account') {
    const { accountId, userId = accountId } = principal;
    return [...new Set([accountId, userId])].map(account => subjectOf({ account }));
  }
  if (principal.kind === 'provider') return [];
  const { tenantId: tenant, userId: user } = principal;
  return [subjectOf({ tenant }), subjectOf({ tenant, user })];
}

export type RevocationWatch = {
  // Calls `recheck` whenever something that concerns the principal may have been revoked, until the signal is aborted.
  add(principal: Principal, recheck: () => Promise<void>, signal: AbortSignal): void;
};

type Watched = { subjects: readonly string[]; recheck: () => Promise<void> };
type Settings = { recent: Revocations['recent']; clock: Clock; log: Logger; stopping: AbortSignal };

// Reads the notices once for all streams of this process, while there are any. Only streams that a notice concerns are
// checked again: several times, because a notice is written before its revocation.
export function createRevocationWatch({ recent, clock, log, stopping }: Settings): RevocationWatch {
  const watched = new Set<Watched>();
  const firstSeen = new Map<string, number>();
  let isRunning = false;

  const look = async (): Promise<void> => {
    const notices = await recent();
    const now = clock.now();
    for (const id of firstSeen.keys()) if (!notices.some(notice => notice.id === id)) firstSeen.delete(id);
    const named = new Set<string>();
    for (const { id, subject } of notices) {
      const sinceMs = firstSeen.get(id) ?? now;
      firstSeen.set(id, sinceMs);
      if (now - sinceMs <= limits.revocationRecheckMs) named.add(subject);
    }
    if (named.size === 0) return;
    const concerned = [...watched].filter(({ subjects }) => subjects.some(subject => named.has(subject)));
    for (let at = 0; at < concerned.length; at += limits.revocationRechecks)
      await Promise.all(
        concerned.slice(at, at + limits.revocationRechecks).map(watcher => watcher.recheck()),
      );
  };

  const run = async (): Promise<void> => {
    while (watched.size > 0) {
      await clock.sleep(limits.revocationPollMs, stopping);
      // Without notices, a stream is still checked at every heartbeat.
      await look().catch(error => log.warn({ err: error }, 'revocations could not be read'));
    }
  };

  return {
    add(principal, recheck, signal) {
      const subjects = subjectsOf(principal);
      if (subjects.length === 0 || signal.aborted) return;
      const watcher = { subjects, recheck };
      watched.add(watcher);
      signal.addEventListener('abort', () => watched.delete(watcher), { once: true });
      if (isRunning) return;
      isRunning = true;
      run()
        .catch(() => {}) // the server is stopping
        .finally(() => {
          isRunning = false;
        });
    },
  };
}
