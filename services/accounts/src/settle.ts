import { accountsErrors } from './errors.ts';
import { settleAttempts } from './limits.ts';

// Retries a read-modify-write a few times if what it read changed before the write, by another person or in another
// tab.

// Another change of the same account committed first.
export const isRace = (error: unknown): boolean =>
  accountsErrors.includes(error) && error.code === 'accounts.changed';

export async function settle<T>(
  attempt: () => Promise<T>,
  isLost: (error: unknown) => boolean = isRace,
  attempts = settleAttempts,
): Promise<T> {
  for (let left = attempts; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (left === 1 || !isLost(error)) throw error;
    }
  }
}
