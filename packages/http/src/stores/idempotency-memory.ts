import { type Clock, createIds } from '@stak/kit';
import * as limits from '../limits.ts';
import type { Attempt, Begun, Claim, FirstAttempt, IdempotencyStore, StoredResponse } from './idempotency.ts';

type Record = { fingerprint: string; untilMs: number; first: FirstAttempt; response?: StoredResponse };

// For tests and for one process whose keys need not outlive it.
export function createMemoryIdempotency({
  clock,
  mostEntries = limits.idempotencyEntries,
}: {
  clock: Clock;
  mostEntries?: number;
}): IdempotencyStore & { size(): number } {
  const records = new Map<string, Record>();
  const ids = createIds({ clock });

  const attemptOf = (claim: Claim, mine: Record): Attempt => ({
    // A record that was taken over is no longer in the map, so writes to it have no effect.
    async finish(response) {
      mine.response = response;
      mine.untilMs = clock.now() + claim.ttlMs;
    },
    async abandon() {
      mine.untilMs = 0;
    },
  });

  return {
    size: () => records.size,
    async begin(claim): Promise<Begun> {
      const record = records.get(claim.key);
      if (record && record.untilMs > clock.now()) {
        if (record.fingerprint !== claim.fingerprint) return { kind: 'mismatch' };
        return record.response ? { kind: 'replay', response: record.response } : { kind: 'in_flight' };
      }
      const { fingerprint, leaseMs, ttlMs } = claim;
      const nowMs = clock.now();
      const isRepeated =
        record?.response === undefined &&
        record?.fingerprint === fingerprint &&
        record.first.atMs + ttlMs > nowMs;
      const first = isRepeated ? record.first : { name: ids.next('own'), atMs: nowMs };
      const mine: Record = { fingerprint, untilMs: nowMs + leaseMs, first };
      records.delete(claim.key);
      records.set(claim.key, mine);
      if (records.size > mostEntries) records.delete(records.keys().next().value!);
      return { kind: 'started', attempt: attemptOf(claim, mine), first, isRepeated };
    },
  };
}
