import { setTimeout as sleep } from 'node:timers/promises';

export type Pace = { perSecond: number; durationMs: number };

// An open loop: calls are sent at their times, whether or not earlier ones have been answered, so a stalled server gets
// the same load. `sentMs` is when the call is sent, because a late timer is not the server's fault.
export async function keepPace(
  { perSecond, durationMs }: Pace,
  call: (turn: number, sentMs: number) => Promise<unknown>,
): Promise<void> {
  const startMs = performance.now();
  const total = Math.round((perSecond * durationMs) / 1000);
  const calls: Promise<unknown>[] = [];
  let failed: unknown;
  while (calls.length < total) {
    const dueMs = startMs + (calls.length * 1000) / perSecond;
    const nowMs = performance.now();
    if (dueMs > nowMs) {
      await sleep(1);
      continue;
    }
    const answered = call(calls.length, nowMs).catch(error => {
      failed ??= error;
    });
    calls.push(answered);
    if (failed !== undefined) break;
  }
  await Promise.all(calls);
  if (failed !== undefined) throw failed;
}
