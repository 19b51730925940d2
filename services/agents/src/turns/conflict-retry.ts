import { isRefused, tableErrors } from '@stak/table';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';

// Every change is decided on what was read, and written on the condition that it is still so. A writer that loses
// reads again; of any number of writers one always wins. Undefined from an attempt means that it was lost.
export async function retryOnConflict<T>(
  { clock, random }: Pick<Service, 'clock' | 'random'>,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  for (let lost = 0; lost < limits.raceAttempts; lost++) {
    if (lost > 0) await clock.sleep(random() * limits.raceMs * lost);
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
  }
  throw tableErrors.create('table.busy', 'Too many changes at once; try again.', { retryAfterS: 1 });
}
