import { setTimeout as sleep } from 'node:timers/promises';
import { createCaller } from '../server/caller.ts';
import type { Pace } from '../server/pace.ts';
import type { Destination } from './destination.ts';
import { eventOf } from './event.ts';
import { measureArrival } from './latency.ts';

// Events on their way from callers through a source of a server to a destination that responds at once.
export type Route = { url: string; path: string; destination: Destination };

// `delivered` counts what arrived while the callers sent: deliveries still pending at the end are part of the cost.
export type Throughput = { accepted: number; delivered: number; elapsedMs: number; latenciesMs: number[] };

export const inFlight = 32;
const arriveWithinMs = 120_000;
const lookEveryMs = 5;

// All callers send as fast as they are answered. Resolves when the last event has arrived.
export async function sendFor({ url, path, destination }: Route, durationMs: number): Promise<Throughput> {
  const caller = createCaller(url);
  const [beganMs, before] = [performance.now(), await destination.received()];
  const latenciesMs: number[] = [];
  const send = async () => {
    let sentMs = performance.now();
    while (sentMs - beganMs <= durationMs) {
      await caller.call(eventOf(path), 200);
      const answeredMs = performance.now();
      latenciesMs.push(answeredMs - sentMs);
      sentMs = answeredMs;
    }
  };
  try {
    await Promise.all(Array.from({ length: inFlight }, send));
    const delivered = (await destination.received()) - before;
    const elapsedMs = performance.now() - beganMs;
    const accepted = latenciesMs.length;
    await untilReceived(destination, before + accepted);
    return { accepted, delivered, elapsedMs, latenciesMs };
  } finally {
    caller.close();
  }
}

// How long it takes from the first call until the last arrival.
export async function sendAll({ url, path, destination }: Route, events: number): Promise<number> {
  const caller = createCaller(url);
  const [beganMs, before] = [performance.now(), await destination.received()];
  let left = events;
  const send = async () => {
    while (left-- > 0) await caller.call(eventOf(path), 200);
  };
  try {
    await Promise.all(Array.from({ length: inFlight }, send));
    await untilReceived(destination, before + events);
    return performance.now() - beganMs;
  } finally {
    caller.close();
  }
}

// Each event's latency until its arrival.
export const sendAtPace = ({ url, path, destination }: Route, pace: Pace): Promise<number[]> =>
  measureArrival(url, mark => eventOf(path, mark), destination, pace);

async function untilReceived(destination: Destination, count: number): Promise<void> {
  const deadline = performance.now() + arriveWithinMs;
  while ((await destination.received()) < count) {
    if (performance.now() > deadline) throw new Error(`not all events arrived in ${arriveWithinMs} ms`);
    await sleep(lookEveryMs);
  }
}
