import { setTimeout as sleep } from 'node:timers/promises';

const waitMs = 60_000;
const lookEveryMs = 500;

// For checks without a test runner: what holds in the end, or why it does not.
export async function eventually(holds: () => Promise<void>): Promise<void> {
  const until = Date.now() + waitMs;
  for (;;) {
    try {
      return await holds();
    } catch (error) {
      if (Date.now() > until) throw error;
    }
    await sleep(lookEveryMs);
  }
}
