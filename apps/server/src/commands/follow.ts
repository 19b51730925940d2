import { untilStopped } from '../signals.ts';

// Takes what comes until Ctrl-C, which is how one stops listening and no mistake.
export async function follow<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  take: (one: T) => Promise<void> | void,
): Promise<void> {
  const stopping = new AbortController();
  void untilStopped().then(() => stopping.abort());
  try {
    for await (const one of open(stopping.signal)) await take(one);
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
  }
}
