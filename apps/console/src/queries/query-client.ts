import { StakError } from '@stak/client';
import { QueryClient } from '@tanstack/react-query';

// What is shown may be seconds old, because event streams announce changes. A lost connection is worth another try; an
// answer that refuses is not.
const retry = (failures: number, error: unknown) =>
  failures < 1 && !(error instanceof StakError && error.status < 500);
export const queries = new QueryClient({ defaultOptions: { queries: { staleTime: 5_000, retry } } });
