import { untilStopped } from '../process/signals.ts';

// Handles events until Ctrl-C, which is the normal way to stop and not an error.
export async function follow<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  take: (item: T) => Promise<void> | void,
): Promise<void> {
  const stopping = new AbortController();
  void untilStopped().then(() => stopping.abort());
  try {
    for await (const item of open(stopping.signal)) await take(item);
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
  }
}
