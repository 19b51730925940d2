import { StakError } from '@stak/client';
import { MutationCache, QueryClient } from '@tanstack/react-query';
import { permissionsKey } from './permissions.ts';

// Data may be seconds old, because event streams announce changes. A lost connection is retried; a refusal is not.
const retry = (failures: number, error: unknown) =>
  failures < 1 && !(error instanceof StakError && error.status < 500);

export const queries: QueryClient = new QueryClient({
  defaultOptions: { queries: { staleTime: 5_000, retry } },
  // Somebody's role may change while their page is open.
  mutationCache: new MutationCache({
    onError: error => {
      if (error instanceof StakError && error.status === 403)
        void queries.invalidateQueries({ queryKey: permissionsKey });
    },
  }),
});
