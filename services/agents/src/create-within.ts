import { createWithin as createOneWithin, type KeyOf, type WriteStep } from '@stak/table';
import { type Service, ttlAfter } from './deps.ts';
import { creation } from './main-table.ts';

// Creates something whose number is limited per tenant. `checkCount` counts what exists, and throws if the limit is
// reached.
export const createWithin = (
  { store, clock }: Pick<Service, 'store' | 'clock'>,
  key: KeyOf<typeof creation>,
  checkCount: () => Promise<void>,
  made: WriteStep,
): Promise<void> =>
  createOneWithin(store, creation, {
    key,
    mark: () => ({ ...key, ttl: ttlAfter(clock.now(), 1) }),
    check: checkCount,
    create: step => store.transact({ made, ...step }, { pattern: `create one of ${key.of}` }),
  });
