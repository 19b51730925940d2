import type { Cancel, Clock } from '@stak/kit';
import { refKey } from './deliveries.ts';
import type { DeliveryRef } from './intake.ts';
import * as limits from './limits.ts';
import { createSlots, type Pace, type Slot } from './slots.ts';

// What an exchange told: how long it took, how many the connection takes at a time, how long to leave it alone.
export type Report = { latencyMs?: number; concurrency?: number; waitMs?: number };
type Run = () => Promise<Report>;

// Either is called, once.
export type Reservation = { start(ref: DeliveryRef, run: Run): void; giveBack(): void };

export type Dispatcher = {
  // `full`: this connection has enough waiting in memory. `known`: it is waiting or under way already.
  offer(ref: DeliveryRef): 'taken' | 'known' | 'full';
  // Keeps a place for an exchange that is about to begin; undefined if there is none.
  reserve(connectionId: string, concurrency: number): Reservation | undefined;
  // Whether what waits for it would wait long: known to be slow, or silent for too long already.
  isSlow(connectionId: string): boolean;
  waiting(connectionId?: string): number;
  stop(): void; // starts nothing any more
  idle(): Promise<void>; // when nothing is under way
};

type Track = {
  connectionId: string;
  ready: DeliveryRef[];
  inFlight: number;
  concurrency: number;
  averageMs?: number;
  blockedUntilMs: number;
  startedMs: number; // since when something is under way
};

// Who is next: every connection gets its turn, whatever the others have waiting.
export function createDispatcher(deps: {
  clock: Clock;
  run(ref: DeliveryRef): Promise<Report>;
  onRoom(): void; // there is less waiting than there could be
}): Dispatcher {
  const { clock } = deps;
  const slots = createSlots();
  const tracks = new Map<string, Track>();
  const known = new Set<string>();
  const turns: Record<Pace, Set<Track>> = { quick: new Set(), newcomer: new Set(), slow: new Set() };
  const idlers: (() => void)[] = [];
  let waiting = 0;
  let isStopped = false;
  let timer: { cancel: Cancel; atMs: number } | undefined;

  const trackOf = (connectionId: string): Track => {
    let track = tracks.get(connectionId);
    if (track) tracks.delete(connectionId);
    else
      track = {
        connectionId,
        ready: [],
        inFlight: 0,
        concurrency: 1,
        blockedUntilMs: 0,
        startedMs: 0,
      };
    tracks.set(connectionId, track);
    if (tracks.size > limits.trackedConnections) forgetOne();
    return track;
  };
  const forgetOne = () => {
    for (const [connectionId, { ready, inFlight }] of tracks) {
      if (ready.length > 0 || inFlight > 0) continue;
      tracks.delete(connectionId);
      return;
    }
  };

  const paceOf = ({ averageMs }: Track): Pace =>
    averageMs === undefined ? 'newcomer' : averageMs > limits.slowMs ? 'slow' : 'quick';
  const mostOf = (track: Track): number => (track.averageMs === undefined ? 1 : track.concurrency);
  const mayStart = (track: Track): boolean =>
    track.inFlight < mostOf(track) && track.blockedUntilMs <= clock.now();

  const line = (track: Track) => {
    for (const set of Object.values(turns)) set.delete(track);
    if (track.ready.length > 0 && mayStart(track)) turns[paceOf(track)].add(track);
  };

  const pump = () => {
    if (isStopped) return;
    for (const pace of ['quick', 'newcomer', 'slow'] as const)
      for (const track of turns[pace]) {
        if (!slots.hasRoom(pace) && !(slots.sortOut(clock.now()) && slots.hasRoom(pace))) break;
        turns[pace].delete(track);
        const ref = mayStart(track) ? track.ready.shift() : undefined;
        if (ref) {
          waiting -= 1;
          launch(track, ref, slots.take(pace, clock.now()), () => deps.run(ref));
        }
        line(track); // last in turn again
      }
    if (turns.quick.size + turns.newcomer.size + turns.slow.size > 0) pumpIn(limits.slowMs / 4);
  };

  // One wake-up at a time: for those who wait for a slot to be sorted out, or for their rate. Whoever has to wait longer
  // gets another one after it.
  const pumpIn = (delayMs: number) => {
    const atMs = clock.now() + delayMs;
    if (timer && timer.atMs <= atMs) return;
    timer?.cancel();
    const act = () => {
      timer = undefined;
      let nextMs = Number.POSITIVE_INFINITY;
      for (const track of tracks.values()) {
        if (track.ready.length === 0) continue;
        line(track);
        if (track.blockedUntilMs > clock.now()) nextMs = Math.min(nextMs, track.blockedUntilMs);
      }
      pump();
      if (Number.isFinite(nextMs)) pumpIn(nextMs - clock.now());
    };
    timer = { cancel: clock.after(delayMs, act), atMs };
  };

  const launch = (track: Track, ref: DeliveryRef, slot: Slot, run: Run) => {
    if (track.inFlight === 0) track.startedMs = clock.now();
    track.inFlight += 1;
    run()
      .catch((): Report => ({}))
      .then(report => {
        if (report.latencyMs !== undefined) {
          const { averageMs = report.latencyMs } = track;
          track.averageMs = averageMs + (report.latencyMs - averageMs) * limits.latencyWeight;
        }
        if (report.concurrency !== undefined) track.concurrency = report.concurrency;
        if (report.waitMs !== undefined) {
          track.blockedUntilMs = clock.now() + report.waitMs;
          pumpIn(report.waitMs);
        }
        known.delete(refKey(ref));
        end(track, slot);
      });
  };
  const end = (track: Track, slot: Slot) => {
    slots.giveBack(slot);
    track.inFlight -= 1;
    line(track);
    pump();
    if (waiting < limits.readyMost / 2) deps.onRoom();
    if (slots.inUse() === 0) for (const resolve of idlers.splice(0)) resolve();
  };

  return {
    offer(ref) {
      const key = refKey(ref);
      if (known.has(key)) return 'known';
      const track = trackOf(ref.connectionId);
      if (isStopped || waiting >= limits.readyMost || track.ready.length >= limits.readyPerConnection)
        return 'full';
      known.add(key);
      track.ready.push(ref);
      waiting += 1;
      line(track);
      pump();
      return 'taken';
    },
    reserve(connectionId, concurrency) {
      const track = trackOf(connectionId);
      track.concurrency = concurrency;
      const pace = paceOf(track);
      // Those who wait have been here longer.
      if (isStopped || track.ready.length > 0 || !mayStart(track) || !slots.hasRoom(pace)) return undefined;
      const slot = slots.take(pace, clock.now());
      track.inFlight += 1;
      return {
        start(ref, run) {
          track.inFlight -= 1;
          known.add(refKey(ref));
          launch(track, ref, slot, run);
        },
        giveBack: () => end(track, slot),
      };
    },
    isSlow(connectionId) {
      const track = trackOf(connectionId);
      const isSilent = track.inFlight > 0 && clock.now() - track.startedMs > limits.slowMs;
      const pace = paceOf(track);
      return pace === 'slow' || (pace === 'newcomer' && isSilent);
    },
    waiting: connectionId =>
      connectionId === undefined ? waiting : (tracks.get(connectionId)?.ready.length ?? 0),
    stop() {
      isStopped = true;
      timer?.cancel();
    },
    idle: () => (slots.inUse() === 0 ? Promise.resolve() : new Promise(resolve => idlers.push(resolve))),
  };
}
