import type { Arrival } from './receivers.ts';

export type Stored = {
  status: string;
  attempts: { connectionId: string; run: number; attemptNumber: number; statusCode: number }[];
};

export type Evidence = {
  acknowledged: ReadonlySet<string>;
  stored: ReadonlyMap<string, Stored>;
  arrivals: readonly (readonly Arrival[])[]; // of each connection
  kills: readonly number[];
  // Whether the store took too long to answer. A server that stops meanwhile may not be able to store a result.
  wasStoreSlow?(fromMs: number, untilMs: number): boolean;
};

const exchangeMs = 10_000; // the longest that a delivery waits for its answer
const onItsWayMs = 1000; // what a server had sent before it was killed is read a moment later

// Every promise, against what the destinations saw and what the server remembers.
export function verify({ acknowledged, stored, arrivals, kills, wasStoreSlow }: Evidence): string[] {
  const violations: string[] = [];
  for (const eventId of acknowledged) {
    const status = stored.get(eventId)?.status;
    if (status === undefined) violations.push(`${eventId} was acknowledged and is gone`);
    else if (!['delivered', 'failed', 'partial'].includes(status))
      violations.push(`${eventId} is ${status} in the end`);
  }
  for (const [eventId, { attempts }] of stored) violations.push(...checkAttempts(eventId, attempts));
  for (const [i, list] of arrivals.entries()) {
    const successes = successesOf(list);
    for (const eventId of acknowledged)
      if (!successes.has(eventId) && stored.get(eventId)?.status === 'delivered')
        violations.push(`${eventId} is delivered, but connection ${i} never got it`);
    for (const [eventId, times] of successes) {
      if (!stored.has(eventId)) violations.push(`connection ${i} got ${eventId}, which does not exist`);
      for (const first of times.slice(0, -1)) {
        const later = kills.map(killedMs => killedMs - first);
        const isExcused =
          later.some(ms => ms >= -onItsWayMs && ms < exchangeMs) ||
          wasStoreSlow?.(first - onItsWayMs, first + exchangeMs);
        if (!isExcused)
          violations.push(`connection ${i} got ${eventId} twice; the last kill was ${later.at(-1)} ms later`);
      }
    }
  }
  return violations;
}

// Attempts are numbered without a gap, and none follows one that succeeded: a repetition is of an attempt whose
// result was never written.
function checkAttempts(eventId: string, attempts: Stored['attempts']): string[] {
  const violations: string[] = [];
  const byRun = new Map<string, Stored['attempts']>();
  for (const one of attempts) {
    const key = `${one.connectionId} run ${one.run}`;
    byRun.set(key, [...(byRun.get(key) ?? []), one]);
  }
  for (const [run, list] of byRun) {
    if (list.some((one, i) => one.attemptNumber !== i + 1)) violations.push(`${eventId} to ${run} has a gap`);
    if (list.slice(0, -1).some(one => one.statusCode === 200))
      violations.push(`${eventId} to ${run} was tried after it was delivered`);
  }
  return violations;
}

export function successesOf(list: readonly Arrival[]): Map<string, number[]> {
  const successes = new Map<string, number[]>();
  for (const { eventId, status, atMs } of list)
    if (status === 200) successes.set(eventId, [...(successes.get(eventId) ?? []), atMs]);
  return successes;
}

export function countDuplicates(arrivals: Evidence['arrivals']): number {
  let duplicates = 0;
  for (const list of arrivals) for (const times of successesOf(list).values()) duplicates += times.length - 1;
  return duplicates;
}
