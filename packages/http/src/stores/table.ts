import type { Clock, Owners } from '@stak/kit';
import type { Store } from '@stak/table';
import { httpTable } from './http-table.ts';
import type { IdempotencyStore } from './idempotency.ts';
import { type AnswerSealer, createTableIdempotency } from './idempotency-table.ts';
import type { RateLimitStore } from './rate-limit.ts';
import type { MemoryRateLimits } from './rate-limit-memory.ts';
import { createTableRateLimits } from './rate-limit-table.ts';
import type { Revocations } from './revocations.ts';
import { createTableRevocations } from './revocations-table.ts';

export { httpTable };

type Deps = { store: Store; clock: Clock; sealer: AnswerSealer; owners?: Owners; rates?: MemoryRateLimits };

// State that the processes of one API share in a table. Separate from the rest of the package, so that programs without
// a table do not load this code.
export function createTableStores({ store, clock, sealer, owners, rates }: Deps): {
  idempotency: IdempotencyStore;
  rateLimits: RateLimitStore;
  revocations: Revocations;
} {
  return {
    idempotency: createTableIdempotency({ store, clock, sealer, owners }),
    rateLimits: createTableRateLimits({ store, others: rates }),
    revocations: createTableRevocations({ store, clock }),
  };
}
