import type { Clock } from '@stak/kit';
import type { HookRequest } from '../filters/request-view.ts';
import * as limits from '../limits.ts';
import type { Delivery } from '../tables.ts';
import type { AnswerWatch } from './answer-watch.ts';
import type { DueDelivery } from './queue.ts';

export type Pace = 'quick' | 'new' | 'slow';

// A leased delivery waits together with its request, so that it need not be claimed and read again.
export type Waiting = {
  ref: DueDelivery;
  leased?: { delivery: Delivery; request: HookRequest; bytes: number };
};

export type ConnectionState = {
  connectionId: string;
  account: string; // the connection itself, until its owner is known: the queue does not contain it
  readyAs?: Pace; // the pace under which it is ready to start
  waiting: Waiting[];
  leased: number; // of the waiting ones
  leasedBytes: number; // of the leased ones that wait, or will when they are written
  isBehind: boolean; // some are due that did not fit into memory: new ones go behind them
  inFlight: number;
  concurrency: number;
  averageMs?: number; // of the destination, without `ownMs`
  ownMs: number; // the average time in which an answer may have waited for this thread
  answeredMs: number; // by the watch: the last answer, or the first request since nothing was in flight
  unwritten: number; // accepted here, delivered quickly, and their results are not written
  owed: number; // as counted below
  blockedUntilMs: number;
  startedMs: number; // since when something is in flight
};

export const paces: readonly Pace[] = ['quick', 'new', 'slow'];

export const paceOf = ({ averageMs }: ConnectionState): Pace =>
  averageMs === undefined ? 'new' : averageMs > limits.slowMs ? 'slow' : 'quick';

// The deliveries that wait in memory, by connection, and which connection is next. Accounts alternate, and so do the
// connections of each, however many deliveries are waiting.
export function createWaitingDeliveries(clock: Clock) {
  const states = new Map<string, ConnectionState>();
  const ready = {
    quick: createReady<ConnectionState>(),
    new: createReady<ConnectionState>(),
    slow: createReady<ConnectionState>(),
  };
  let waiting = 0;
  let leasedBytes = 0;

  const evictOne = () => {
    for (const [connectionId, state] of states) {
      const { leasedBytes, inFlight, unwritten } = state;
      if (state.waiting.length > 0 || leasedBytes > 0 || inFlight > 0 || unwritten > 0) continue;
      states.delete(connectionId);
      return;
    }
  };

  const mayStart = (state: ConnectionState): boolean => {
    const most = state.averageMs === undefined ? 1 : state.concurrency;
    return state.inFlight < most && state.blockedUntilMs <= clock.now();
  };

  const moveTo = (pace: Pace | undefined, state: ConnectionState) => {
    if (state.readyAs !== undefined) ready[state.readyAs].delete(state);
    if (pace !== undefined) ready[pace].add(state);
    state.readyAs = pace;
  };
  // After anything changed that decides whether the connection may start. If it was ready already, it keeps its
  // position.
  const refresh = (state: ConnectionState) => {
    const pace = state.waiting.length > 0 && mayStart(state) ? paceOf(state) : undefined;
    if (pace !== state.readyAs) moveTo(pace, state);
  };

  const addLeasedBytes = (state: ConnectionState, bytes: number) => {
    state.leasedBytes += bytes;
    leasedBytes += bytes;
  };

  return {
    mayStart,
    refresh,
    addLeasedBytes,
    stateOf(connectionId: string): ConnectionState {
      const known = states.get(connectionId);
      if (known && states.size < limits.trackedConnections / 2) return known; // their order does not matter yet
      const state = known ?? newState(connectionId);
      states.delete(connectionId);
      states.set(connectionId, state); // the most recent one is last
      if (states.size > limits.trackedConnections) evictOne();
      return state;
    },
    states: () => states.values(),
    setAccount(state: ConnectionState, account: string): void {
      if (state.account === account) return;
      moveTo(undefined, state);
      state.account = account;
      refresh(state);
    },
    count: (connectionId?: string): number =>
      connectionId === undefined ? waiting : (states.get(connectionId)?.waiting.length ?? 0),
    hasLeased: () => leasedBytes > 0,

    push(state: ConnectionState, one: Waiting): void {
      state.waiting.push(one);
      waiting += 1;
      if (one.leased) state.leased += 1;
      refresh(state);
    },
    shift(state: ConnectionState): Waiting {
      const first = state.waiting.shift()!;
      waiting -= 1;
      if (state.waiting.length === 0) state.isBehind = false;
      if (first.leased) {
        state.leased -= 1;
        addLeasedBytes(state, -first.leased.bytes);
      }
      return first;
    },

    isReady: (pace: Pace): boolean => !ready[pace].isEmpty(),
    // The next connection of this pace whose first delivery is accepted. It goes behind the others.
    takeReady(pace: Pace, accepts: (first: Waiting | undefined) => boolean): ConnectionState | undefined {
      const state = ready[pace].first(one => accepts(one.waiting[0]));
      if (state) moveTo(undefined, state);
      return state;
    },

    // However many deliveries of others wait, a connection has room for a few.
    hasRoom: ({ waiting: { length } }: ConnectionState): boolean =>
      waiting < limits.readyMost
        ? length < limits.readyPerConnection
        : length < limits.readyReserved && waiting < 2 * limits.readyMost,
    // Whether a new delivery may wait here with its request: it is attempted soon, and memory allows.
    hasRoomForLeased(state: ConnectionState, bytes: number): boolean {
      if (state.isBehind || waiting >= limits.readyMost || paceOf(state) === 'slow') return false;
      if (state.leasedBytes + bytes > limits.leasedBytesPerConnection) return false;
      if (leasedBytes + bytes > limits.leasedBytesMost) return false;
      const { averageMs = limits.slowMs, concurrency } = state;
      return (state.waiting.length * averageMs) / concurrency < limits.leasedWaitMs;
    },

    clear(): void {
      states.clear();
      for (const pace of paces) ready[pace].clear();
      waiting = 0;
      leasedBytes = 0;
    },
  };
}

const newState = (connectionId: string): ConnectionState => ({
  connectionId,
  account: connectionId,
  waiting: [],
  leased: 0,
  leasedBytes: 0,
  isBehind: false,
  inFlight: 0,
  concurrency: 1,
  ownMs: 0,
  answeredMs: 0,
  unwritten: 0,
  owed: 0,
  blockedUntilMs: 0,
  startedMs: 0,
});

// Connections that may start a delivery, by account. When one is taken out, its account goes behind the others.
function createReady<State extends { account: string }>() {
  const accounts = new Map<string, Set<State>>();
  return {
    isEmpty: () => accounts.size === 0,
    clear: () => accounts.clear(),
    add(state: State): void {
      const own = accounts.get(state.account);
      if (own) own.add(state);
      else accounts.set(state.account, new Set([state]));
    },
    delete(state: State): void {
      const own = accounts.get(state.account);
      if (!own?.delete(state)) return;
      accounts.delete(state.account);
      if (own.size > 0) accounts.set(state.account, own);
    },
    first(accepts: (state: State) => boolean): State | undefined {
      for (const own of accounts.values()) for (const state of own) if (accepts(state)) return state;
      return undefined;
    },
  };
}

// Counts the deliveries of accepted events that wait for nothing but this process: for a slot that is taken because
// this thread is late, or for their result to be written. Deliveries that wait for their destination are not counted,
// however many they are.
export function createOwedDeliveries(clock: Clock, watch: AnswerWatch) {
  const counted = new Set<ConnectionState>();
  let total = 0;

  // Whether the connection would be no quicker if this process were.
  const waitsForDestination = (state: ConnectionState): boolean => {
    const { averageMs, ownMs } = state;
    if (averageMs === undefined || ownMs <= Math.max(averageMs, limits.lateMs)) return true;
    if (state.blockedUntilMs > clock.now()) return true;
    return state.inFlight >= state.concurrency && watch.lookedMs() - state.answeredMs > limits.silentMs;
  };
  const update = (state: ConnectionState): void => {
    const waiting = state.leased === 0 || waitsForDestination(state) ? 0 : state.leased;
    const owed = waiting + state.unwritten;
    if (owed === state.owed) return;
    total += owed - state.owed;
    state.owed = owed;
    if (owed > 0) counted.add(state);
    else counted.delete(state);
  };
  return {
    count: () => total,
    // After anything changed for the connection.
    update,
    // A destination may have fallen silent since.
    recount(): void {
      for (const state of counted) update(state);
    },
    clear(): void {
      for (const state of counted) state.owed = 0;
      counted.clear();
      total = 0;
    },
  };
}

export type Slot = { pace: Pace; startedMs: number };

// Limits how many requests are in flight, so that slow destinations cannot use up the slots of quick ones. A connection
// that has not been tried yet is `new`: it gets one of the quick slots, for one request at a time, and quick ones leave
// some of them free for it. A request that takes longer than expected is reclassified as slow, whether or not there is
// room.
export function createSlots() {
  const taken = new Set<Slot>();
  const used: Record<Pace, number> = { quick: 0, new: 0, slow: 0 };
  return {
    hasRoom(pace: Pace): boolean {
      if (pace === 'slow') return used.slow < limits.slowSlots;
      if (used.quick + used.new >= limits.quickSlots) return false;
      return pace === 'new'
        ? used.new < limits.newSlots
        : used.quick < limits.quickSlots - limits.newSlotsKept;
    },
    take(pace: Pace, startedMs: number): Slot {
      const slot = { pace, startedMs };
      taken.add(slot);
      used[pace] += 1;
      return slot;
    },
    release(slot: Slot): void {
      if (taken.delete(slot)) used[slot.pace] -= 1;
    },
    // True if that made room.
    reclassify(nowMs: number): boolean {
      let isMoved = false;
      for (const slot of taken) {
        if (nowMs - slot.startedMs < limits.slowMs) break; // a set keeps the order of insertion
        if (slot.pace === 'slow') continue;
        used[slot.pace] -= 1;
        used.slow += 1;
        slot.pace = 'slow';
        isMoved = true;
      }
      return isMoved;
    },
    inUse: () => taken.size,
  };
}
