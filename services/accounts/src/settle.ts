import { accountsErrors } from './errors.ts';
import { settleAttempts } from './limits.ts';

// What was read may have changed by the time it is written, by somebody else or by the same person in another tab. Then
// all of it is looked at again, a few times.

// Another change of the same account came first.
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
