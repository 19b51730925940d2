import { judge } from '@stak/http';
import type { Clock } from '@stak/kit';
import { isConflict, type Store } from '@stak/table';
import { inSeconds, rateBucket } from '../tables.ts';

// Returns how long to wait until the connection's rate allows another attempt, over all processes; zero if it is allowed
// now. It costs a write for each attempt, for connections with a rate only.
export async function takeRate(
  { store, clock }: { store: Store; clock: Clock },
  connectionId: string,
  perSecond: number,
): Promise<number> {
  const policy = { name: 'connection', limit: perSecond, windowMs: 1000 };
  for (;;) {
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
}
