import { type Cancel, type Clock, createSemaphore, type Logger } from '@stak/kit';
import type { HookRequest } from '../filters/request-view.ts';
import * as limits from '../limits.ts';
import type { Connection } from '../main-table.ts';
import type { Delivery } from '../tables.ts';
import { concurrencyOf, type Report } from './attempt.ts';
import type { DeliveryRef, DueDelivery } from './queue.ts';
import { createReady, createSlots, type Pace, type Slot } from './slots.ts';

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
};

type DispatcherDeps = {
  clock: Clock;
  log: Logger;
  attempt(
    delivery: Delivery,
    connection: Connection,
    request: HookRequest,
    signal: AbortSignal,
  ): Promise<Report>;
  // Calls `onClaimed` when it has read what it sends.
  claimAndAttempt(
    ref: DueDelivery,
    owner: string,
    signal: AbortSignal,
    onClaimed: () => void,
  ): Promise<Report>;
  // For a delivery that was leased to this process when it was written, and has waited for a slot.
  attemptLeased(delivery: Delivery, request: HookRequest, signal: AbortSignal): Promise<Report>;
  // Makes a leased delivery due at once, for others.
  release(delivery: Delivery): Promise<unknown>;
  claimsAtOnce: number;
};

// A leased delivery waits together with its request, so that it need not be claimed and read again.
type Waiting = { ref: DueDelivery; leased?: { delivery: Delivery; request: HookRequest; bytes: number } };

type ConnectionState = {
  connectionId: string;
  account: string; // the connection itself, until its owner is known: the queue does not tell
  readyAs?: Pace; // the pace under which it waits for its turn
  waiting: Waiting[];
  leasedBytes: number; // of the leased ones that wait, or will when they are written
  isBehind: boolean; // some are due that did not fit into memory: new ones go behind them
  inFlight: number;
  concurrency: number;
  averageMs?: number;
  blockedUntilMs: number;
  startedMs: number; // since when something is in flight
};

// Who is asked first for each claim, in rotation: a backlog of quick connections delays the others by a few claims.
const paceOfClaim: readonly Pace[] = ['quick', 'quick', 'quick', 'new', 'quick', 'quick', 'quick', 'slow'];
const paces: readonly Pace[] = ['quick', 'new', 'slow'];

// Decides which delivery of this process is attempted next. Accounts take turns, and so do the connections of each,
// however many deliveries are waiting. All of it is a shortcut: a delivery that is lost here is found in the queue.
// Without a running scheduler, everything is written as due and found by the scheduler of another process.
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { clock, log } = deps;
  const slots = createSlots();
  const states = new Map<string, ConnectionState>();
  const known = new Set<string>();
  const ready = {
    quick: createReady<ConnectionState>(),
    new: createReady<ConnectionState>(),
    slow: createReady<ConnectionState>(),
  };
  const onIdle: (() => void)[] = [];
  let session: Session | undefined;
  let waiting = 0;
  let leasedBytes = 0;
  let claiming = 0;
  let claims = 0; // so far
  let timer: { cancel: Cancel; atMs: number } | undefined;

  const stateOf = (connectionId: string): ConnectionState => {
    let state = states.get(connectionId);
    if (state) states.delete(connectionId);
    else
      state = {
        connectionId,
        account: connectionId,
        waiting: [],
        leasedBytes: 0,
        isBehind: false,
        inFlight: 0,
        concurrency: 1,
        blockedUntilMs: 0,
        startedMs: 0,
      };
    states.set(connectionId, state);
    if (states.size > limits.trackedConnections) evictOne();
    return state;
  };
  const evictOne = () => {
    for (const [connectionId, state] of states) {
      if (state.waiting.length > 0 || state.leasedBytes > 0 || state.inFlight > 0) continue;
      states.delete(connectionId);
      return;
    }
  };

  const paceOf = ({ averageMs }: ConnectionState): Pace =>
    averageMs === undefined ? 'new' : averageMs > limits.slowMs ? 'slow' : 'quick';
  const mayStart = (state: ConnectionState): boolean => {
    const most = state.averageMs === undefined ? 1 : state.concurrency;
    return state.inFlight < most && state.blockedUntilMs <= clock.now();
  };

  // Where it is ready already, it keeps its turn.
  const enqueue = (state: ConnectionState) => {
    const pace = state.waiting.length > 0 && mayStart(state) ? paceOf(state) : undefined;
    if (pace !== state.readyAs) moveTo(pace, state);
  };
  const moveTo = (pace: Pace | undefined, state: ConnectionState) => {
    if (state.readyAs !== undefined) ready[state.readyAs].delete(state);
    if (pace !== undefined) ready[pace].add(state);
    state.readyAs = pace;
  };
  const setAccount = (state: ConnectionState, account: string) => {
    if (state.account === account) return;
    moveTo(undefined, state);
    state.account = account;
    enqueue(state);
  };

  const pump = () => {
    if (!session) return;
    while (startOne(paceOfClaim[claims % paceOfClaim.length]!) || paces.some(startOne));
    if (paces.some(isAnyReady)) pumpIn(limits.slowMs / 4);
  };
  const isAnyReady = (pace: Pace): boolean => !ready[pace].isEmpty();
  const hasSlot = (pace: Pace): boolean =>
    slots.hasRoom(pace) || (slots.reclassify(clock.now()) && slots.hasRoom(pace));
  // Without a free claim, only what is leased may start.
  const startOne = (pace: Pace): boolean => {
    const mayClaim = claiming < deps.claimsAtOnce;
    if (!isAnyReady(pace) || !(mayClaim || leasedBytes > 0) || !hasSlot(pace)) return false;
    const state = ready[pace].first(one => mayClaim || one.waiting[0]?.leased !== undefined);
    if (!state) return false;
    moveTo(undefined, state);
    if (mayStart(state)) startFirst(state, pace, session!);
    enqueue(state); // at the end again
    return true;
  };

  const startFirst = (state: ConnectionState, pace: Pace, current: Session) => {
    const { ref, leased } = state.waiting.shift()!;
    waiting -= 1;
    if (state.waiting.length === 0) state.isBehind = false;
    if (leased) addBytes(state, -leased.bytes);
    const run = leased
      ? deps.attemptLeased(leased.delivery, leased.request, current.signal)
      : claim(ref, current);
    launch(state, ref, slots.take(pace, clock.now()), run);
  };

  const claim = (ref: DueDelivery, { owner, signal }: Session): Promise<Report> => {
    claiming += 1;
    claims += 1;
    let isClaiming = true;
    const onClaimed = () => {
      if (!isClaiming) return;
      isClaiming = false;
      claiming -= 1;
      pump();
    };
    return deps.claimAndAttempt(ref, owner, signal, onClaimed).finally(onClaimed);
  };

  // One timer at a time, for connections that wait for a slot or for their rate limit. A connection that waits longer
  // gets another one afterwards.
  const pumpIn = (delayMs: number) => {
    const atMs = clock.now() + delayMs;
    if (timer && timer.atMs <= atMs) return;
    timer?.cancel();
    const act = () => {
      timer = undefined;
      let nextMs = Number.POSITIVE_INFINITY;
      for (const state of states.values()) {
        if (state.waiting.length === 0) continue;
        enqueue(state);
        if (state.blockedUntilMs > clock.now()) nextMs = Math.min(nextMs, state.blockedUntilMs);
      }
      pump();
      if (Number.isFinite(nextMs)) pumpIn(nextMs - clock.now());
    };
    timer = { cancel: clock.after(delayMs, act), atMs };
  };

  const launch = (state: ConnectionState, ref: DeliveryRef, slot: Slot, run: Promise<Report>) => {
    if (state.inFlight === 0) state.startedMs = clock.now();
    state.inFlight += 1;
    run
      .catch((error: unknown): Report => {
        log.error({ err: error }, 'a delivery failed'); // it is due again when its lease ends
        return {};
      })
      .then(report => {
        if (report.latencyMs !== undefined) {
          const { averageMs = report.latencyMs } = state;
          state.averageMs = averageMs + (report.latencyMs - averageMs) * limits.latencyWeight;
        }
        if (report.userId !== undefined) setAccount(state, report.userId);
        if (report.concurrency !== undefined) state.concurrency = report.concurrency;
        if (report.waitMs !== undefined) {
          state.blockedUntilMs = clock.now() + report.waitMs;
          pumpIn(report.waitMs);
        }
        known.delete(refKey(ref));
        if (report.next) offer(report.next);
        end(state, slot);
      });
  };
  const end = (state: ConnectionState, slot: Slot) => {
    slots.release(slot);
    state.inFlight -= 1;
    enqueue(state);
    pump();
    if (waiting < limits.readyMost / 2) session?.onRoom();
    if (slots.inUse() === 0) for (const resolve of onIdle.splice(0)) resolve();
  };

  const offer = (ref: DueDelivery): 'taken' | 'known' | 'full' => {
    const key = refKey(ref);
    if (known.has(key)) return 'known';
    const state = stateOf(ref.connectionId);
    if (!session || !hasRoom(state)) {
      state.isBehind = state.waiting.length > 0;
      return 'full';
    }
    known.add(key);
    wait(state, { ref });
    return 'taken';
  };
  // However many deliveries of others wait, a connection has room for a few.
  const hasRoom = ({ waiting: { length } }: ConnectionState): boolean =>
    waiting < limits.readyMost
      ? length < limits.readyPerConnection
      : length < limits.readyReserved && waiting < 2 * limits.readyMost;
  const wait = (state: ConnectionState, one: Waiting) => {
    state.waiting.push(one);
    waiting += 1;
    enqueue(state);
    pump();
  };

  // Whether a new delivery may wait here with its request: it is attempted soon, and memory allows.
  const mayWait = (state: ConnectionState, bytes: number): boolean => {
    if (state.isBehind || waiting >= limits.readyMost || paceOf(state) === 'slow') return false;
    if (state.leasedBytes + bytes > limits.leasedBytesPerConnection) return false;
    if (leasedBytes + bytes > limits.leasedBytesMost) return false;
    const { averageMs = limits.slowMs, concurrency } = state;
    return (state.waiting.length * averageMs) / concurrency < limits.leasedWaitMs;
  };
  const addBytes = (state: ConnectionState, bytes: number) => {
    state.leasedBytes += bytes;
    leasedBytes += bytes;
  };
  const onUnreleased = (error: unknown) =>
    log.warn({ err: error }, 'a delivery stays leased until its lease ends');
  // Otherwise they would be due only when their leases end. What cannot be released in time is left to that.
  const releaseWaiting = async (signal: AbortSignal | undefined) => {
    const leased = [...states.values()].flatMap(state => state.waiting.flatMap(one => one.leased ?? []));
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
        launch(state, delivery, slot, deps.attempt(delivery, connection, request, signal));
      },
      cancel: () => end(state, slot),
    };
  };
  const startingLater = (state: ConnectionState, of: Session, bytes: number): Assignment => {
    addBytes(state, bytes);
    return {
      how: 'leased',
      owner: of.owner,
      start(delivery, request) {
        if (session !== of) return void deps.release(delivery).catch(onUnreleased);
        known.add(refKey(delivery));
        wait(state, { ref: delivery, leased: { delivery, request, bytes } });
      },
      cancel: () => {
        if (session === of) addBytes(state, -bytes);
      },
    };
  };

  const isSlow = (connectionId: string): boolean => {
    const state = stateOf(connectionId);
    const isSilent = state.inFlight > 0 && clock.now() - state.startedMs > limits.slowMs;
    const pace = paceOf(state);
    return pace === 'slow' || (pace === 'new' && isSilent);
  };
  const waitingFor = (connectionId: string): number => states.get(connectionId)?.waiting.length ?? 0;

  return {
    start(started) {
      states.clear();
      known.clear();
      for (const pace of paces) ready[pace].clear();
      waiting = 0;
      leasedBytes = 0;
      session = started;
    },
    async stop() {
      const signal = session?.signal;
      session = undefined;
      timer?.cancel();
      timer = undefined;
      const idle = slots.inUse() === 0 ? undefined : new Promise<void>(resolve => onIdle.push(resolve));
      await Promise.all([idle, releaseWaiting(signal)]);
    },
    offer,
    assign(connection, request) {
      const { connectionId, userId, breaker, ordered, ratePerSecond } = connection;
      if (breaker === 'open') return { how: 'backlog' };
      if (!session) return { how: 'due' };
      if (waitingFor(connectionId) >= limits.readyPerConnection && isSlow(connectionId))
        return { how: 'backlog' };
      // Whether it is first in order, or within the rate, is known only after the write.
      if (ordered || ratePerSecond !== undefined) return { how: 'due' };
      const state = stateOf(connectionId);
      setAccount(state, userId);
      state.concurrency = concurrencyOf(connection);
      const pace = paceOf(state);
      // Deliveries that wait already go first.
      if (state.waiting.length === 0 && mayStart(state) && slots.hasRoom(pace))
        return startingNow(state, connection, session, slots.take(pace, clock.now()));
      const bytes = bytesOf(request);
      if (mayWait(state, bytes)) return startingLater(state, session, bytes);
      state.isBehind = state.waiting.length > 0;
      return { how: 'due' };
    },
    isSlow: connectionId => session !== undefined && isSlow(connectionId),
    waiting: connectionId => {
      if (!session) return 0;
      return connectionId === undefined ? waiting : waitingFor(connectionId);
    },
  };
}

function bytesOf({ headers, query, body }: HookRequest): number {
  let bytes = limits.leasedOverheadBytes + query.length + body.length;
  for (const [name, value] of headers) bytes += name.length + value.length;
  return bytes;
}

const refKey = ({ eventId, connectionId, run }: DeliveryRef): string => `${eventId} ${connectionId} ${run}`;
