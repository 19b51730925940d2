import { untilStopped } from '../process/signals.ts';

// Handles events until Ctrl-C, which is the normal way to stop and not an error.
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
