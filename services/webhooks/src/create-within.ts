import { createWithin as createOneWithin, type Store, type WriteStep } from '@stak/table';
import type { BaseDeps } from './deps.ts';
import * as limits from './limits.ts';
import { creation, inSeconds } from './tables.ts';

// Creates something whose number is limited. `checkCount` counts what exists, and throws if the limit is reached. `steps`
// is called right before the write: some of them hold its time.
export const createWithin = (
  { store, clock }: Pick<BaseDeps, 'store' | 'clock'>,
  of: string,
  checkCount: () => Promise<void>,
  steps: () => Record<string, WriteStep>,
  options: Parameters<Store['transact']>[1],
): Promise<void> =>
  createOneWithin(store, creation, {
    key: { of },
    mark: () => ({ of, expiresAt: inSeconds(clock.now()) + limits.creationS }),
    check: checkCount,
    create: step => store.transact({ ...steps(), ...step }, options),
  });
