/** A function like `fetch`, for tests and for other runtimes. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Settings of `createClient`. Only `baseUrl` is required. */
export type ClientSettings = {
  baseUrl: string;
  token?: string | (() => string | undefined | Promise<string | undefined>);
  fetch?: Fetch;
  // Called when a token is refused, once for all waiting calls: get a new token, from a route that needs none, and
  // return whether to retry.
  onUnauthorized?: () => boolean | Promise<boolean>;
  credentials?: RequestInit['credentials']; // for a browser that signs in with a cookie
  headers?: Readonly<Record<string, string>>; // sent with every request
  timeoutMs?: number;
  retries?: number;
  // For tests.
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  random?: () => number;
  newKey?: () => string;
};

export function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}
