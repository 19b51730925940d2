import type { ApiTypes } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { client } from './api.ts';

export type OperationId = keyof ApiTypes;

export const permissionsKey = ['permissions'];

// The same function each time, so that the set is made once for each answer.
const toSet = (operations: string[]): ReadonlySet<string> => new Set(operations);

/** The operations that the person who has signed in may call in this organisation, by the server's own rules. */
export const usePermissions = () =>
  useQuery({
    queryKey: permissionsKey,
    queryFn: async () => (await client.system.permissions()).data.operations,
    select: toSet,
    staleTime: 60_000,
  });

/** Whether the person may call an operation. Where nobody knows, the server answers for itself. */
export function useMay(): (operation: OperationId) => boolean {
  const { data } = usePermissions();
  return operation => data?.has(operation) ?? true;
}
