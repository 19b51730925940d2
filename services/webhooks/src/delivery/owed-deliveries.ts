import type { Clock } from '@stak/kit';
import * as limits from '../limits.ts';
import type { AnswerWatch } from './answer-watch.ts';
import type { ConnectionState } from './waiting-deliveries.ts';

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
