import { setTimeout as sleep } from 'node:timers/promises';
import { createCaller } from '../server/caller.ts';
import type { Request } from '../server/load.ts';
import { keepPace, type Pace } from '../server/pace.ts';
import { type Destination, monotonicMs } from './destination.ts';

const arriveWithinMs = 10_000;
let runs = 0;

// From sending an event until the destination has all of it.
export async function measureArrival(
  url: string,
  requestOf: (mark: string) => Request,
  destination: Destination,
  pace: Pace,
): Promise<number[]> {
  const caller = createCaller(url);
  const clocksApartMs = monotonicMs() - performance.now();
  const sentMs = new Map<string, number>();
  const run = runs++;
  try {
    await keepPace(pace, (turn, atMs) => {
      const mark = `${run}-${turn}`;
      sentMs.set(mark, atMs + clocksApartMs);
      return caller.call(requestOf(mark), 200);
    });
    return await arrivals(destination, sentMs);
  } finally {
    caller.close();
  }
}

// Events that do not arrive in time count with the time that was waited.
async function arrivals(destination: Destination, sentMs: Map<string, number>): Promise<number[]> {
  const deadline = performance.now() + arriveWithinMs;
  const latenciesMs: number[] = [];
  while (sentMs.size > 0 && performance.now() < deadline) {
    for (const [mark, atMs] of await destination.takeArrivals()) {
      const sent = sentMs.get(mark);
      if (sent === undefined) continue;
      latenciesMs.push(atMs - sent);
      sentMs.delete(mark);
    }
    if (sentMs.size > 0) await sleep(20);
  }
  for (const sent of sentMs.values()) latenciesMs.push(monotonicMs() - sent);
  return latenciesMs;
}
