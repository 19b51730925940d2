import { type WriteStep, write } from '@stak/table';
import { type Base, inSeconds } from './deps.ts';
import { dueShardOf } from './due.ts';
import { type Event, job } from './events-table.ts';
import * as limits from './limits.ts';
import type { Connection } from './main-table.ts';

// For a second, other processes do not know a new connection, or new rules of an old one: what they take meanwhile owes
// the connection nothing, or was filtered by rules that hold no more. So the write that changes a connection also writes
// jobs that look at those events a little later. A cache may delay a delivery, never lose one.
export function catchUpSteps(
  { ids, clock }: Pick<Base, 'ids' | 'clock'>,
  { userId, sourceId, connectionId }: Pick<Connection, 'userId' | 'sourceId' | 'connectionId'>,
): Record<string, WriteStep> {
  const nowMs = clock.now();
  const steps = limits.catchUpMs.map((delayMs, i) => {
    const jobId = ids.next('job');
    const made = {
      userId,
      sourceId,
      jobId,
      action: 'catch_up' as const,
      connectionIds: [connectionId],
      from: nowMs - limits.clockSkewMs,
      to: nowMs + delayMs,
      state: 'running' as const,
      matched: 0,
      deliveries: 0,
      failures: 0,
      createdAt: nowMs,
      dueIn: dueShardOf(jobId),
      dueAt: nowMs + delayMs,
      expiresAt: inSeconds(nowMs) + limits.catchUpS,
      version: 1,
    };
    return [`catch up ${i}`, write.put(job, made)] as const;
  });
  return Object.fromEntries(steps);
}

// Received by somebody who did not know the connection as it is now, or may not have.
export const hasMissed = ({ deliveries, rejection }: Event, connectionId: string): boolean => {
  const known = deliveries[connectionId];
  return rejection === undefined && (known === undefined || known.state === 'filtered');
};
