import { Button, Group } from '@mantine/core';
import { type QueryKey, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';

type Page<Row> = { data: Row[]; next_cursor: string | null };
type Cursor = { cursor?: string };

// The rows of a paginated list that are loaded so far.
export function usePages<Row>(
  queryKey: QueryKey,
  read: (cursor: Cursor) => Promise<{ data: Page<Row> }>,
  options: { refetchInterval?: () => number } = {},
) {
  return useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam }) => (await read(pageParam === '' ? {} : { cursor: pageParam })).data,
    initialPageParam: '',
    getNextPageParam: page => page.next_cursor,
    select: ({ pages }) => pages.flatMap(page => page.data),
    ...options,
  });
}

export function More({ of, label }: { of: UseInfiniteQueryResult; label: string }) {
  if (!of.hasNextPage) return null;
  return (
    <Group justify="center">
      <Button
        size="compact-sm"
        variant="default"
        loading={of.isFetchingNextPage}
        onClick={() => of.fetchNextPage()}
      >
        {label}
      </Button>
    </Group>
  );
}
