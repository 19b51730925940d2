import { type Cancel, type Clock, createSemaphore, type Logger } from '@stak/kit';
import type { HookRequest } from '../filters/request-view.ts';
import * as limits from '../limits.ts';
import type { Connection } from '../main-table.ts';
import type { Delivery } from '../tables.ts';
import type { AnswerWatch } from './answer-watch.ts';
import { type Answer, type AttemptRun, concurrencyOf, type Report } from './attempt.ts';
import type { DeliveryRef, DueDelivery } from './queue.ts';
import {
  type ConnectionState,
  createOwedDeliveries,
  createSlots,
  createWaitingDeliveries,
  type Pace,
  paceOf,
  paces,
  type Slot,
  type Waiting,
} from './waiting-deliveries.ts';

// How a new delivery is written: due now, into the backlog of its connection, or leased to this process, which attempts
// it at once or as soon as there is a slot. Exactly one of the two functions is called: `start` after the write,
// `cancel` if it failed.
export type Assignment =
  | { how: 'due' | 'backlog' }
  | { how: 'leased'; owner: string; start(delivery: Delivery, request: HookRequest): void; cancel(): void };

// One run of the scheduler. `signal` aborts requests that are in flight.
type Session = { owner: string; signal: AbortSignal; onRoom(): void };

export type Dispatcher = {
  start(session: Session): void;
  // Starts no more deliveries. Resolves when none is in flight.
  stop(): Promise<void>;
  assign(connection: Connection, request: HookRequest): Assignment;
  // `full`: enough deliveries of this connection wait in memory. `known`: it is waiting or in flight already.
  offer(ref: DueDelivery): 'taken' | 'known' | 'full';
  // Whether a delivery would wait long: the connection is known to be slow, or has not responded for too long.
  isSlow(connectionId: string): boolean;
  waiting(connectionId?: string): number;
  // Deliveries of accepted events that wait for nothing but this process. `recount` notices destinations that have
  // fallen silent.
  owed(): number;
  recount(): void;
};

type DispatcherDeps = {
  clock: Clock;
  log: Logger;
  attempt(delivery: Delivery, connection: Connection, request: HookRequest, run: AttemptRun): Promise<Report>;
  // Calls `onClaimed` when it has read what it sends.
  claimAndAttempt(ref: DueDelivery, owner: string, run: AttemptRun, onClaimed: () => void): Promise<Report>;
  // For a delivery that was leased to this process when it was written, and has waited for a slot.
  attemptLeased(delivery: Delivery, request: HookRequest, run: AttemptRun): Promise<Report>;
  // Makes a leased delivery due at once, for others.
  release(delivery: Delivery): Promise<unknown>;
  claimsAtOnce: number;
  answerWatch: AnswerWatch;
  onFewerOwed(): void;
};

// Decides which delivery of this process is attempted next. All of it is a shortcut: a delivery that is lost here is
// found in the queue. Without a running scheduler, everything is written as due and found by the scheduler of another
// process.
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { clock, log } = deps;
  const slots = createSlots();
  const waiting = createWaitingDeliveries(clock);
  const owed = createOwedDeliveries(clock, deps.answerWatch);
  const known = new Set<string>(); // waiting or in flight
  const onIdle: (() => void)[] = [];
  let session: Session | undefined;
  let running = 0; // attempts whose results are not written
  let unwritten = 0; // of these, the ones without a slot

  const pump = () => {
    if (!session) return;
    while (startOne(claims.nextPace()) || paces.some(startOne));
    if (paces.some(waiting.isReady)) timer.setIn(limits.slowMs / 4);
  };
  const claims = createClaims(deps.claimsAtOnce, pump);
  // For connections that wait for a slot or for their rate limit.
  const timer = createEarliestTimer(clock, () => {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const state of waiting.states()) {
      if (state.waiting.length === 0) continue;
      waiting.refresh(state);
      if (state.blockedUntilMs > clock.now()) nextMs = Math.min(nextMs, state.blockedUntilMs);
    }
    pump();
    if (Number.isFinite(nextMs)) timer.setIn(nextMs - clock.now());
  });
  const hasSlot = (pace: Pace): boolean =>
    slots.hasRoom(pace) || (slots.reclassify(clock.now()) && slots.hasRoom(pace));
  // Without a free claim, only what is leased may start.
  const startOne = (pace: Pace): boolean => {
    const mayClaim = claims.hasRoom();
    if (!waiting.isReady(pace) || !(mayClaim || waiting.hasLeased()) || !hasSlot(pace)) return false;
    const state = waiting.takeReady(pace, first => mayClaim || first?.leased !== undefined);
    if (!state) return false;
    if (waiting.mayStart(state)) startFirst(state, pace, session!);
    refresh(state);
    return true;
  };

  const startFirst = (state: ConnectionState, pace: Pace, current: Session) => {
    const { ref, leased } = waiting.shift(state);
    const slot = slots.take(pace, clock.now());
    launch(state, ref, { slot, isAccepted: leased !== undefined, signal: current.signal }, run =>
      leased
        ? deps.attemptLeased(leased.delivery, leased.request, run)
        : claims.run(onClaimed => deps.claimAndAttempt(ref, current.owner, run, onClaimed)),
    );
  };

  // The slot is free again as soon as the destination has answered, while the result is still to be written: the limits
  // are about requests. Too many such results, or one that says that the destination is not well, keep the slot.
  const launch = (
    state: ConnectionState,
    ref: DeliveryRef,
    { slot, isAccepted, signal }: Launch,
    begin: (run: AttemptRun) => Promise<Report>,
  ) => {
    let hasSlot = true;
    let isOwed = false;
    const onAnswer = (answer: Answer) => {
      learn(state, answer);
      isOwed = isAccepted && answer.isWell && answer.latencyMs < limits.slowMs;
      if (isOwed) state.unwritten += 1;
      if (answer.isWell && unwritten < limits.unwrittenMost) {
        hasSlot = false;
        unwritten += 1;
        freeSlot(state, slot);
      } else refresh(state);
    };
    if (state.inFlight === 0) {
      state.startedMs = clock.now();
      state.answeredMs = deps.answerWatch.now();
    }
    state.inFlight += 1;
    running += 1;
    begin({ signal, onAnswer })
      .catch((error: unknown): Report => {
        log.error({ err: error }, 'a delivery failed'); // it is due again when its lease ends
        return {};
      })
      .then(({ waitMs, next }) => {
        if (waitMs !== undefined) block(state, waitMs);
        known.delete(refKey(ref));
        if (next) offer(next);
        if (isOwed) state.unwritten -= 1;
        running -= 1;
        if (!hasSlot) unwritten -= 1;
        end(state, hasSlot ? slot : undefined);
      });
  };
  const learn = (state: ConnectionState, { latencyMs, ownMs, userId, concurrency }: Answer) => {
    const remoteMs = Math.max(0, latencyMs - ownMs);
    const { averageMs = remoteMs } = state;
    state.averageMs = averageMs + (remoteMs - averageMs) * limits.latencyWeight;
    state.ownMs += (ownMs - state.ownMs) * limits.latencyWeight;
    state.answeredMs = deps.answerWatch.now();
    state.concurrency = concurrency;
    waiting.setAccount(state, userId);
  };
  const block = (state: ConnectionState, waitMs: number) => {
    state.blockedUntilMs = clock.now() + waitMs;
    timer.setIn(waitMs);
  };
  const refresh = (state: ConnectionState) => {
    waiting.refresh(state);
    owed.update(state);
  };
  const freeSlot = (state: ConnectionState, slot: Slot) => {
    slots.release(slot);
    state.inFlight -= 1;
    refresh(state);
    pump();
    if (waiting.count() < limits.readyMost / 2) session?.onRoom();
  };
  // A reservation that is given back, or an attempt whose result is written.
  const end = (state: ConnectionState, slot?: Slot) => {
    if (slot) freeSlot(state, slot);
    else refresh(state);
    deps.onFewerOwed();
    if (isIdle()) for (const resolve of onIdle.splice(0)) resolve();
  };
  const isIdle = () => slots.inUse() === 0 && running === 0;

  const offer = (ref: DueDelivery): 'taken' | 'known' | 'full' => {
    const key = refKey(ref);
    if (known.has(key)) return 'known';
    const state = waiting.stateOf(ref.connectionId);
    if (!session || !waiting.hasRoom(state)) {
      state.isBehind = state.waiting.length > 0;
      return 'full';
    }
    known.add(key);
    wait(state, { ref });
    return 'taken';
  };
  const wait = (state: ConnectionState, one: Waiting) => {
    waiting.push(state, one);
    pump();
    owed.update(state);
  };

  const onUnreleased = (error: unknown) =>
    log.warn({ err: error }, 'a delivery stays leased until its lease ends');
  // Otherwise they would be due only when their leases end. What cannot be released in time is left to that.
  const releaseWaiting = async (signal: AbortSignal | undefined) => {
    const leased = [...waiting.states()].flatMap(state => state.waiting.flatMap(one => one.leased ?? []));
    const releasing = createSemaphore(deps.claimsAtOnce);
    const release = async (delivery: Delivery) => signal?.aborted || deps.release(delivery);
    await Promise.all(
      leased.map(({ delivery }) => releasing.run(() => release(delivery)).catch(onUnreleased)),
    );
  };

  const startingNow = (
    state: ConnectionState,
    connection: Connection,
    { owner, signal }: Session,
    slot: Slot,
  ): Assignment => {
    state.inFlight += 1;
    return {
      how: 'leased',
      owner,
      start(delivery, request) {
        state.inFlight -= 1;
        known.add(refKey(delivery));
        launch(state, delivery, { slot, isAccepted: true, signal }, run =>
          deps.attempt(delivery, connection, request, run),
        );
      },
      cancel: () => end(state, slot),
    };
  };
  const startingLater = (state: ConnectionState, of: Session, bytes: number): Assignment => {
    waiting.addLeasedBytes(state, bytes);
    return {
      how: 'leased',
      owner: of.owner,
      start(delivery, request) {
        if (session !== of) return void deps.release(delivery).catch(onUnreleased);
        known.add(refKey(delivery));
        wait(state, { ref: delivery, leased: { delivery, request, bytes } });
      },
      cancel: () => {
        if (session === of) waiting.addLeasedBytes(state, -bytes);
      },
    };
  };

  const isSlow = (connectionId: string): boolean => {
    const state = waiting.stateOf(connectionId);
    const isSilent = state.inFlight > 0 && clock.now() - state.startedMs > limits.slowMs;
    const pace = paceOf(state);
    return pace === 'slow' || (pace === 'new' && isSilent);
  };

  return {
    start(started) {
      waiting.clear();
      owed.clear();
      known.clear();
      session = started;
    },
    async stop() {
      const signal = session?.signal;
      session = undefined;
      timer.cancel();
      const idle = isIdle() ? undefined : new Promise<void>(resolve => onIdle.push(resolve));
      await Promise.all([idle, releaseWaiting(signal)]);
    },
    offer,
    assign(connection, request) {
      const { connectionId, userId, breaker, ordered, ratePerSecond } = connection;
      if (breaker === 'open') return { how: 'backlog' };
      if (!session) return { how: 'due' };
      if (waiting.count(connectionId) >= limits.readyPerConnection && isSlow(connectionId))
        return { how: 'backlog' };
      // Whether it is first in order, or within the rate, is known only after the write.
      if (ordered || ratePerSecond !== undefined) return { how: 'due' };
      const state = waiting.stateOf(connectionId);
      waiting.setAccount(state, userId);
      state.concurrency = concurrencyOf(connection);
      const pace = paceOf(state);
      // Deliveries that wait already go first.
      if (state.waiting.length === 0 && waiting.mayStart(state) && slots.hasRoom(pace))
        return startingNow(state, connection, session, slots.take(pace, clock.now()));
      const bytes = bytesOf(request);
      if (waiting.hasRoomForLeased(state, bytes)) return startingLater(state, session, bytes);
      state.isBehind = state.waiting.length > 0;
      return { how: 'due' };
    },
    isSlow: connectionId => session !== undefined && isSlow(connectionId),
    waiting: connectionId => (session ? waiting.count(connectionId) : 0),
    owed: () => (session ? owed.count() : 0),
    recount: owed.recount,
  };
}

// `isAccepted`: this process has accepted the event, so its deliveries count as owed.
type Launch = { slot: Slot; isAccepted: boolean; signal: AbortSignal };

// The pace that is tried first for each claim, in rotation: a backlog of quick connections delays the others by a few
// claims.
const paceOfClaim: readonly Pace[] = ['quick', 'quick', 'quick', 'new', 'quick', 'quick', 'quick', 'slow'];

// Limits how many deliveries are claimed at a time. `onFree` is called when there is room for another one.
function createClaims(most: number, onFree: () => void) {
  let claiming = 0;
  let begun = 0; // so far
  return {
    hasRoom: (): boolean => claiming < most,
    nextPace: (): Pace => paceOfClaim[begun % paceOfClaim.length]!,
    run(claim: (onClaimed: () => void) => Promise<Report>): Promise<Report> {
      claiming += 1;
      begun += 1;
      let isClaiming = true;
      const onClaimed = () => {
        if (!isClaiming) return;
        isClaiming = false;
        claiming -= 1;
        onFree();
      };
      return claim(onClaimed).finally(onClaimed);
    },
  };
}

// One timer at a time, for the earliest of the times it was set to. Later ones have to be set again.
function createEarliestTimer(clock: Clock, act: () => void) {
  let timer: { cancel: Cancel; atMs: number } | undefined;
  const cancel = () => {
    timer?.cancel();
    timer = undefined;
  };
  return {
    setIn(delayMs: number): void {
      const atMs = clock.now() + delayMs;
      if (timer && timer.atMs <= atMs) return;
      cancel();
      const onTime = () => {
        timer = undefined;
        act();
      };
      timer = { cancel: clock.after(delayMs, onTime), atMs };
    },
    cancel,
  };
}

function bytesOf({ headers, query, body }: HookRequest): number {
  let bytes = limits.leasedOverheadBytes + query.length + body.length;
  for (const [name, value] of headers) bytes += name.length + value.length;
  return bytes;
}

const refKey = ({ eventId, connectionId, run }: DeliveryRef): string => `${eventId} ${connectionId} ${run}`;
