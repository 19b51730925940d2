// A signal that is aborted with its parent, or by itself. AbortSignal.any would leave a reference on the longer-lived
// parent each time, and consumers wait often.
export type LinkedSignal = { signal: AbortSignal; abort(reason?: unknown): void; unlink(): void };

// The usual reason. `AbortController` would make one each time, with a stack that nobody reads.
const aborted = new DOMException('This operation was aborted', 'AbortError');

export function linkSignal(parent: AbortSignal): LinkedSignal {
  const own = new AbortController();
  const follow = () => own.abort(parent.reason);
  if (parent.aborted) follow();
  else parent.addEventListener('abort', follow, { once: true });
  return {
    signal: own.signal,
    abort: (reason = aborted) => own.abort(reason),
    unlink: () => parent.removeEventListener('abort', follow),
  };
}
