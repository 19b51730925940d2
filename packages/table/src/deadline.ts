/** Runs work with a signal that is aborted after so many milliseconds. */
// A server that takes a request and never answers would hold its caller for ever. Time is the machine's here: what is
// waited for is a network.
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
