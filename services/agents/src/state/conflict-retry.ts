import { conflict, done, retryConflicts, tableErrors } from '@stak/table';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';

// Retries a change that depends on what was read. An attempt returns undefined if another writer came first.
export const retryOnConflict = <T>(
  { clock, random }: Pick<Service, 'clock' | 'random'>,
  attempt: () => Promise<T | undefined>,
): Promise<T> =>
  retryConflicts(
    {
      clock,
      random,
      attempts: limits.raceAttempts,
      firstMs: limits.raceMs,
      mostMs: limits.raceMs * limits.raceAttempts,
      busy: () =>
        tableErrors.create('table.busy', 'Too many concurrent changes. Try again.', { retryAfterS: 1 }),
    },
    async () => {
      const result = await attempt();
      return result === undefined ? conflict : done(result);
    },
  );
