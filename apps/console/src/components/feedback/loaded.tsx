import { Skeleton, Stack } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';

// Shows the data of a query, a placeholder while it loads, or why it failed.
export function Loaded<T>({
  query,
  children,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined)
    return (
      <>
        {query.error && <Failure error={query.error} onRetry={() => query.refetch()} />}
        {children(query.data)}
      </>
    );
  if (query.error) return <Failure error={query.error} onRetry={() => query.refetch()} />;
  return <Loading />;
}

export const Loading = () => (
  <Stack gap="xs" role="status" aria-busy="true" aria-label="Loading">
    <Skeleton h={20} />
    <Skeleton h={20} w="80%" />
    <Skeleton h={20} w="60%" />
  </Stack>
);
