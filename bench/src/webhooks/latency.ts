import { setTimeout as sleep } from 'node:timers/promises';
import { createCaller } from '../server/caller.ts';
import type { Request } from '../server/load.ts';
import { keepPace, type Pace } from '../server/pace.ts';
import { type Destination, monotonicMs } from './destination.ts';

const arriveWithinMs = 30_000;
let runs = 0;

// From the time an event is due to be sent until the destination has all of it.
export async function measureArrival(
  url: string,
  requestOf: (mark: string) => Request,
  destination: Destination,
  pace: Pace,
): Promise<number[]> {
  const caller = createCaller(url);
  const clocksApartMs = monotonicMs() - performance.now();
  const dueMs = new Map<string, number>();
  const run = runs++;
  try {
    await keepPace(pace, (turn, due) => {
      const mark = `${run}-${turn}`;
      dueMs.set(mark, due + clocksApartMs);
      return caller.call(requestOf(mark), 200);
    });
    return await arrivals(destination, dueMs);
  } finally {
    caller.close();
  }
}

async function arrivals(destination: Destination, dueMs: Map<string, number>): Promise<number[]> {
  const deadline = performance.now() + arriveWithinMs;
  const latenciesMs: number[] = [];
  while (dueMs.size > 0) {
    if (performance.now() > deadline) throw new Error(`${dueMs.size} events did not arrive`);
    for (const [mark, atMs] of await destination.takeArrivals()) {
      const due = dueMs.get(mark);
      if (due === undefined) continue;
      latenciesMs.push(atMs - due);
      dueMs.delete(mark);
    }
    if (dueMs.size > 0) await sleep(20);
  }
  return latenciesMs;
}
