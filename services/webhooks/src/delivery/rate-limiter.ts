import { judge } from '@stak/http';
import type { Clock, Random } from '@stak/kit';
import { isConflict, type Store } from '@stak/table';
import * as limits from '../limits.ts';
import { inSeconds, rateBucket } from '../tables.ts';

export type RateLimiter = {
  // How long to wait until the connection's rate allows another attempt, over all processes; zero if it is allowed now.
  take(connectionId: string, perSecond: number): Promise<number>;
};

type RateDeps = { store: Store; clock: Clock; random: Random };

// Costs a write for each attempt, for connections with a rate only. Attempts of one process take their slots one after
// the other: otherwise all but one of them would conflict and retry.
export function createRateLimiter(deps: RateDeps): RateLimiter {
  const last = new Map<string, Promise<unknown>>();
  return {
    take(connectionId, perSecond) {
      const asked = (last.get(connectionId) ?? Promise.resolve()).then(() =>
        takeShared(deps, connectionId, perSecond),
      );
      const ended = asked
        .catch(() => {}) // the next one tries for itself
        .then(() => {
          if (last.get(connectionId) === ended) last.delete(connectionId);
        });
      last.set(connectionId, ended);
      return asked;
    },
  };
}

// While other processes are always first, the connection is left alone for a moment.
async function takeShared(
  { store, clock, random }: RateDeps,
  connectionId: string,
  perSecond: number,
): Promise<number> {
  const policy = { name: 'connection', limit: perSecond, windowMs: 1000 };
  for (let attempt = 0; attempt < limits.rateAttempts; attempt++) {
    const known = await store.get(rateBucket, { connectionId }, { consistent: true });
    const nowMs = clock.now();
    const verdict = judge(known, policy, nowMs);
    if (!verdict.isAllowed) return Math.max(1, Math.ceil(verdict.retryMs));
    const item = { connectionId, ...verdict.bucket, expiresAt: inSeconds(nowMs) + 3600 };
    try {
      await store.put(rateBucket, item, known ? { ifVersion: known.version } : { ifAbsent: true });
      return 0;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
  return Math.ceil(limits.rateBusyMs * (0.5 + random() / 2));
}
