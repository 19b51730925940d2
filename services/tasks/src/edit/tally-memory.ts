import { createRecentMap } from '@stak/kit';
import * as limits from '../limits.ts';
import type { Tally } from '../tables.ts';

// Tallies as this process wrote them last, so that a new task need not read its user's. Every write has the tally's
// number as its condition: if another process has written since, it is refused, and the tally is read.
export type TallyMemory = {
  recall(user_id: string): Tally | undefined;
  // After a write.
  keep(tally: Tally): void;
  // A write on a remembered tally was made, or refused.
  confirm(): void;
  lose(user_id: string): void;
  // After a write whose outcome is unknown.
  forget(user_id: string): void;
};

// A refused write costs as much as many reads. Where several processes write for the same users, most of what they
// remember is outdated. So after each refusal, more and more tallies are read before one is remembered again.
export function createTallyMemory(): TallyMemory {
  const tallies = createRecentMap<string, Tally>(limits.rememberedTallies);
  let pause = 0;
  let left = 0;
  let confirmed = 0;
  return {
    recall(user_id) {
      if (left === 0) return tallies.get(user_id);
      left -= 1;
      return undefined;
    },
    keep: tally => tallies.set(tally.user_id, tally),
    confirm() {
      confirmed += 1;
      if (confirmed < limits.confirmedTallies) return;
      confirmed = 0;
      pause = Math.floor(pause / 2);
    },
    lose(user_id) {
      tallies.delete(user_id);
      confirmed = 0;
      pause = Math.min(limits.talliesReadMost, Math.max(limits.talliesReadFirst, pause * 2));
      left = pause;
    },
    forget: tallies.delete,
  };
}
