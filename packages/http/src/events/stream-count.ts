import { refuse } from '../errors.ts';
import * as limits from '../limits.ts';

// How many event streams each caller has open. A stream is one request, so rate limits do not cover it.
export type StreamCount = {
  // Counts one more until the signal is aborted, or refuses.
  add(caller: string, signal: AbortSignal): void;
  size(): number;
};

export function createStreamCount(most = limits.streamsPerCaller): StreamCount {
  const counts = new Map<string, number>();
  const change = (caller: string, by: number) => {
    const count = (counts.get(caller) ?? 0) + by;
    if (count === 0) counts.delete(caller);
    else counts.set(caller, count);
  };
  return {
    size: () => counts.size,
    add(caller, signal) {
      if ((counts.get(caller) ?? 0) >= most)
        throw refuse('http.rate_limited', `You have ${most} event streams open.`, {
          retryAfterS: Math.ceil(limits.sseHeartbeatMs / 1000),
        });
      change(caller, 1);
      signal.addEventListener('abort', () => change(caller, -1), { once: true });
    },
  };
}
