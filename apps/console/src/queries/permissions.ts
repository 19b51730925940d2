import type { ApiTypes } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { client } from './api.ts';

export type OperationId = keyof ApiTypes;

export const permissionsKey = ['permissions'];

// A stable function, so that the set is built once per response.
const toSet = (operations: string[]): ReadonlySet<string> => new Set(operations);

/** The operations that the signed-in person may call in this organisation, as the server says. */
export const usePermissions = () =>
  useQuery({
    queryKey: permissionsKey,
    queryFn: async () => (await client.system.permissions()).data.operations,
    select: toSet,
    staleTime: 60_000,
  });

/** Whether the person may call an operation. True while unknown: the server decides anyway. */
export function useMay(): (operation: OperationId) => boolean {
  const { data } = usePermissions();
  return operation => data?.has(operation) ?? true;
}
