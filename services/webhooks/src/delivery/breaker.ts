import { doubledMs } from '@stak/kit';
import { failedStep, is, write } from '@stak/table';
import type { BaseDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { type Connection, connection } from '../main-table.ts';
import type { SourceCache } from '../sources/source-cache.ts';
import { isoTime } from '../tables.ts';
import { alertStep } from './alerts.ts';
import { scheduleBacklog } from './backlog.ts';

// Circuit breaker. Stops deliveries to a destination that fails again and again, probes it now and then, and resumes.
// Deliveries that are due meanwhile wait in the connection's backlog and lose none of their attempts.
export type Breaker = {
  succeeded(connection: Connection): Promise<void>;
  failed(connection: Connection, why: string): Promise<void>;
  // The destination answered that it is gone for good.
  disable(connection: Connection, why: string): Promise<void>;
};

const probeDelayMs = (trips: number): number =>
  doubledMs(trips, { firstMs: limits.breakerFirstMs, mostMs: limits.breakerMostMs });

export function createBreaker(deps: BaseDeps & { sourceCache: SourceCache }): Breaker {
  const { store, clock, sourceCache, log } = deps;
  const failures = new Map<string, number>(); // in a row, as far as this process knows

  const change = async (
    { sourceId, connectionId, userId }: Connection,
    from: readonly Connection['breaker'][],
    to: { breaker: Connection['breaker']; breakerTrips: number },
    backlogAt: number,
    why?: string,
  ) => {
    const nowMs = clock.now();
    const key = { sourceId, connectionId };
    const set = { ...to, breakerAt: isoTime(nowMs) };
    const guard = { if: { breaker: is.oneOf(from), status: is.not('deleted' as const) } };
    try {
      await store.transact({
        connection: write.update(connection, key, { set }, guard),
        backlog: scheduleBacklog(deps, { connectionId, sourceId, userId }, backlogAt),
        ...(why !== undefined && { alert: alertStep({ ...key, userId }, 'breaker_opened', nowMs, why) }),
      });
      log.info({ connection_id: connectionId, ...to }, 'a circuit breaker changed');
    } catch (error) {
      if (failedStep(error)?.step !== 'connection') throw error; // else another process was first
    } finally {
      sourceCache.invalidate(sourceId);
    }
  };

  return {
    async succeeded(one) {
      failures.delete(one.connectionId);
      if (one.breaker === 'closed') return;
      await change(one, ['open', 'half'], { breaker: 'closed', breakerTrips: 0 }, clock.now());
    },
    async failed(one, why) {
      const inRow = (failures.get(one.connectionId) ?? 0) + 1;
      failures.set(one.connectionId, inRow);
      if (failures.size > limits.trackedConnections) failures.delete(failures.keys().next().value!);
      if (one.breaker === 'open' || (one.breaker === 'closed' && inRow < limits.breakerFailures)) return;
      failures.delete(one.connectionId);
      const breakerTrips = one.breakerTrips + 1;
      const backlogAt = clock.now() + probeDelayMs(breakerTrips);
      // One alert for each outage, not one for each probe.
      const reason = one.breaker === 'closed' ? why : undefined;
      await change(one, [one.breaker], { breaker: 'open', breakerTrips }, backlogAt, reason);
    },
    async disable({ sourceId, connectionId, userId }, why) {
      const key = { sourceId, connectionId };
      const nowMs = clock.now();
      try {
        await store.transact({
          connection: write.update(
            connection,
            key,
            { set: { status: 'disabled', disabledReason: why, updatedAt: isoTime(nowMs) } },
            { if: { status: 'active' } },
          ),
          alert: alertStep({ ...key, userId }, 'connection_disabled', nowMs, why),
        });
      } catch (error) {
        if (failedStep(error)?.step !== 'connection') throw error;
      } finally {
        sourceCache.invalidate(sourceId);
      }
    },
  };
}
