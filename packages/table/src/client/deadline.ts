/** Runs work with a signal that is aborted after the given number of milliseconds. */
// A server that accepts a request and never responds would block its caller for ever. This uses real time, not a clock
// that is injected, because it waits for a network.
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = Object.assign(new Error(`no answer within ${ms} ms`), { name: 'TimeoutError' });
      reject(error);
      over.abort(error);
    }, ms);
  });
  try {
    return await Promise.race([work(over.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}
