import { notifications } from '@mantine/notifications';
import {
  type QueryKey,
  type UseMutationOptions,
  type UseMutationResult,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { complain } from '../components/feedback/complaint.ts';

type Options<Data, Variables> = Omit<UseMutationOptions<Data, Error, Variables>, 'mutationFn'> & {
  done?: string; // shown when it has worked
  refreshes?: readonly QueryKey[]; // the queries whose results it changes, read again last
};

/** Calls the API for a form, which shows the error. */
export function useSubmit<Data, Variables = void>(
  save: (variables: Variables) => Promise<Data>,
  { done, refreshes = [], onSuccess, ...options }: Options<Data, Variables> = {},
): UseMutationResult<Data, Error, Variables> {
  const queries = useQueryClient();
  return useMutation({
    ...options,
    mutationFn: variables => save(variables),
    onSuccess: async (...success) => {
      if (done !== undefined) notifications.show({ message: done });
      await onSuccess?.(...success);
      await Promise.all(refreshes.map(queryKey => queries.invalidateQueries({ queryKey })));
    },
  });
}

/** Calls the API for a button or a menu. An error is a notification. */
export const useAction = <Data, Variables = void>(
  act: (variables: Variables) => Promise<Data>,
  options: Options<Data, Variables> = {},
): UseMutationResult<Data, Error, Variables> => useSubmit(act, { onError: complain, ...options });
