import { setTimeout as sleep } from 'node:timers/promises';

export type Pace = { perSecond: number; durationMs: number };

// An open loop: calls at their times, whether or not the earlier ones are answered. `dueMs` is when the call should
// have gone out; what it waited since counts, or a server that stalls would be asked less while it does.
export async function keepPace(
  { perSecond, durationMs }: Pace,
  call: (turn: number, dueMs: number) => Promise<unknown>,
): Promise<void> {
  const startMs = performance.now();
  const total = Math.round((perSecond * durationMs) / 1000);
  const calls: Promise<unknown>[] = [];
  let failed: unknown;
  while (calls.length < total) {
    const dueMs = startMs + (calls.length * 1000) / perSecond;
    if (dueMs > performance.now()) {
      await sleep(1);
      continue;
    }
    const answered = call(calls.length, dueMs).catch(error => {
      failed ??= error;
    });
    calls.push(answered);
    if (failed !== undefined) break;
  }
  await Promise.all(calls);
  if (failed !== undefined) throw failed;
}
