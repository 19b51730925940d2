import { failedStep, is, write } from '@stak/table';
import { alertStep } from './alerts.ts';
import type { Config } from './config.ts';
import { type Base, isoTime } from './deps.ts';
import { armLane } from './lane-arming.ts';
import * as limits from './limits.ts';
import { type Connection, connection } from './main-table.ts';

// Pauses a destination that fails again and again, tries it now and then, and resumes it. What is due meanwhile
// waits in the backlog of the connection and loses none of its attempts.
export type Breaker = {
  succeeded(connection: Connection): Promise<void>;
  failed(connection: Connection, why: string): Promise<void>;
  // The destination says that it is gone for good.
  disable(connection: Connection, why: string): Promise<void>;
};

export const probeDelayMs = (trips: number): number =>
  Math.min(limits.breakerMostMs, limits.breakerFirstMs * 2 ** Math.max(0, trips - 1));

export function createBreaker(deps: Base & { config: Config }): Breaker {
  const { store, clock, config, log } = deps;
  const failures = new Map<string, number>(); // in a row, as far as this process knows

  const change = async (
    { sourceId, connectionId, userId }: Connection,
    from: readonly Connection['breaker'][],
    to: { breaker: Connection['breaker']; breakerTrips: number },
    laneAt: number,
    why?: string,
  ) => {
    const nowMs = clock.now();
    const key = { sourceId, connectionId };
    const set = { ...to, breakerAt: isoTime(nowMs) };
    const guard = { if: { breaker: is.oneOf(from), status: is.not('deleted' as const) } };
    try {
      await store.transact({
        connection: write.update(connection, key, { set }, guard),
        lane: armLane({ connectionId, sourceId, userId }, laneAt),
        ...(why !== undefined && { alert: alertStep({ ...key, userId }, 'breaker_opened', nowMs, why) }),
      });
      log.info({ connection_id: connectionId, ...to }, 'a breaker changed');
    } catch (error) {
      if (failedStep(error)?.step !== 'connection') throw error; // else another process saw it first
    } finally {
      config.forget(sourceId);
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
      const laneAt = clock.now() + probeDelayMs(breakerTrips);
      // One alert for an outage, not one for each probe.
      const alerting = one.breaker === 'closed' ? why : undefined;
      await change(one, [one.breaker], { breaker: 'open', breakerTrips }, laneAt, alerting);
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
        config.forget(sourceId);
      }
    },
  };
}
