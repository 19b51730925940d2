import { failedStep, type Store, type WriteStep, write } from '@stak/table';
import type { BaseDeps } from './deps.ts';
import * as limits from './limits.ts';
import { creation, inSeconds } from './tables.ts';

type Steps = Record<string, WriteStep>;

// Creates one of something that is limited in number. `checkCount` counts what is there, and throws if that is enough.
// Of those who count at the same time, one writes, and the others count again.
export async function createWithin(
  { store, clock }: Pick<BaseDeps, 'store' | 'clock'>,
  of: string,
  checkCount: () => Promise<void>,
  steps: Steps,
  options: Parameters<Store['transact']>[1],
): Promise<void> {
  for (let left = limits.creationTries; ; left--) {
    const last = await store.get(creation, { of }, { consistent: true });
    await checkCount();
    const expiresAt = inSeconds(clock.now()) + limits.creationS;
    const guard = last ? { ifVersion: last.version } : { ifAbsent: true as const };
    const made = write.put(creation, { of, expiresAt }, guard);
    try {
      await store.transact({ ...steps, creation: made }, options);
      return;
    } catch (error) {
      if (failedStep(error)?.step !== 'creation' || left === 0) throw error;
    }
  }
}
