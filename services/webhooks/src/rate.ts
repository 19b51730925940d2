import { judge } from '@stak/http';
import type { Clock } from '@stak/kit';
import { type Store, tableErrors } from '@stak/table';
import { inSeconds } from './deps.ts';
import { bucket } from './events-table.ts';

// Lets through what a connection's rate allows, counted over all processes: zero, or how long to wait. The price is
// a write for each attempt, paid only by connections with a rate.
export async function takeRate(
  { store, clock }: { store: Store; clock: Clock },
  connectionId: string,
  perSecond: number,
): Promise<number> {
  const policy = { name: 'connection', limit: perSecond, windowMs: 1000 };
  for (;;) {
    const known = await store.get(bucket, { connectionId }, { consistent: true });
    const nowMs = clock.now();
    const verdict = judge(known, policy, nowMs);
    if (!verdict.isAllowed) return Math.max(1, Math.ceil(verdict.retryMs));
    const item = { connectionId, ...verdict.bucket, expiresAt: inSeconds(nowMs) + 3600 };
    try {
      await store.put(bucket, item, known ? { ifVersion: known.version } : { ifAbsent: true });
      return 0;
    } catch (error) {
      if (!tableErrors.includes(error) || error.code !== 'table.condition_failed') throw error;
    }
  }
}
