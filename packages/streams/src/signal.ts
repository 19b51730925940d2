// A signal that is aborted with another one, or by itself. Not AbortSignal.any: that leaves something behind on the
// longer-lived signal each time, and consumers wait often.
export type Follower = { signal: AbortSignal; abort(reason?: unknown): void; unfollow(): void };

export function followSignal(leader: AbortSignal): Follower {
  const own = new AbortController();
  const follow = () => own.abort(leader.reason);
  if (leader.aborted) follow();
  else leader.addEventListener('abort', follow, { once: true });
  return {
    signal: own.signal,
    abort: reason => own.abort(reason),
    unfollow: () => leader.removeEventListener('abort', follow),
  };
}
