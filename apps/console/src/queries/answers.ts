import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query';

type Options<Data> = Omit<UseQueryOptions<Data>, 'queryKey' | 'queryFn'>;

/** Reads what an operation answers, and keeps it under the key. */
export const useAnswer = <Data>(
  queryKey: QueryKey,
  read: () => Promise<{ data: Data }>,
  options: Options<Data> = {},
) => useQuery({ queryKey, queryFn: async () => (await read()).data, ...options });

/** Reads the rows that an operation answers, and keeps them under the key. */
export const useRows = <Row>(
  queryKey: QueryKey,
  read: () => Promise<{ data: { data: Row[] } }>,
  options: Options<Row[]> = {},
) => useQuery({ queryKey, queryFn: async () => (await read()).data.data, ...options });
