import { createWithin as createOneWithin, type KeyOf, type WriteStep } from '@stak/table';
import { type Service, ttlAfter } from './deps.ts';
import { creation } from './table.ts';

// Creates one of something of which a tenant has a limited number. `checkCount` counts what is there, and throws if that
// is enough.
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
