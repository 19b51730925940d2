import { Button, Card, Group, Stack, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Failure } from '../../components/feedback/failure.tsx';
import { client } from '../../queries/api.ts';
import { counted, formatNumber } from '../../text/format.ts';
import { ItemForm } from './item-form.tsx';
import { Partition } from './partition.tsx';
import { type Item, keyOf, type TableDetails, type TableSearch } from './queries.ts';
import { formatUnits } from './units.ts';

type Props = {
  table: TableDetails;
  search: TableSearch;
  go: (to: TableSearch) => void;
  changes: number; // of the table so far
};

// Items as they are stored: one partition in the order of its sort keys, or partition after partition.
export function Items({ table, search, go, changes }: Props) {
  const { index, partition, sort, order, entity } = search;
  const items = useInfiniteQuery({
    queryKey: ['items', table.name, index, partition, sort, order, entity],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: cursor }) => {
      const { data } = await client.tables.items({
        table: table.name,
        ...(index !== undefined && { index }),
        ...(partition !== undefined && { partition }),
        ...(partition !== undefined && sort !== undefined && { sort }),
        ...(order !== undefined && { order }),
        ...(entity !== undefined && { entity }),
        ...(cursor !== undefined && { cursor }),
      });
      return { ...data, changesBefore: changes };
    },
    getNextPageParam: page => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    // A scan costs capacity, so it is repeated only on request.
    refetchOnWindowFocus: false,
  });
  const pages = items.data?.pages ?? [];
  const rows = pages.flatMap(page => page.data);
  const newer = changes - (pages[0]?.changesBefore ?? changes);
  const isReading = items.isPending || items.isPlaceholderData; // the page still shows the previous result
  return (
    <Stack gap="sm">
      <ItemForm
        key={JSON.stringify([index, partition, sort, order, entity])}
        table={table}
        search={search}
        go={go}
      />
      <Group justify="space-between" mih={30}>
        <Text size="sm" c="dimmed" role="status">
          {isReading ? 'Reading…' : describe(pages, rows.length, partition !== undefined)}
        </Text>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconRefresh size={14} />}
          loading={isReading || items.isRefetching}
          onClick={() => items.refetch()}
        >
          {newer > 0 ? `Read again: ${counted(newer, 'change')} since` : 'Read again'}
        </Button>
      </Group>
      {items.error && <Failure error={items.error} onRetry={() => items.refetch()} />}
      {items.isSuccess && !isReading && rows.length === 0 && (
        <Card withBorder>
          <Text c="dimmed">
            {items.hasNextPage
              ? 'No item like this among those that were read so far. Read on below.'
              : (entity ?? partition) === undefined
                ? 'The table is empty.'
                : 'There is no such item.'}
          </Text>
        </Card>
      )}
      <Stack gap="sm" inert={isReading} opacity={isReading ? 0.5 : 1}>
        {groupByPartition(rows, index).map(group => (
          <Partition
            key={group.id}
            items={group.items}
            table={table}
            index={index}
            isAlone={partition !== undefined}
          />
        ))}
      </Stack>
      {items.hasNextPage && !isReading && (
        <Group justify="center">
          <Button variant="default" loading={items.isFetchingNextPage} onClick={() => items.fetchNextPage()}>
            More items
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function describe(
  pages: readonly { read: number; read_units: number }[],
  shown: number,
  isQuery: boolean,
): string {
  const read = pages.reduce((sum, page) => sum + page.read, 0);
  const units = pages.reduce((sum, page) => sum + page.read_units, 0);
  const how = isQuery ? 'a query' : 'a scan';
  return `${formatNumber(shown)} of ${counted(read, 'item')} read by ${how}, for ${formatUnits(units)} read ${units === 1 ? 'unit' : 'units'}.`;
}

type PartitionItems = { id: string; items: Item[] };

// Items of one partition are adjacent, also in a scan. Masked keys of different partitions may look the same.
function groupByPartition(items: readonly Item[], index: string | undefined): PartitionItems[] {
  const groups: PartitionItems[] = [];
  let last: string | undefined;
  for (const [i, item] of items.entries()) {
    const key = keyOf(item, 'partition', index);
    const text = key && !key.is_masked ? key.text : undefined;
    if (text !== undefined && text === last) groups.at(-1)!.items.push(item);
    else groups.push({ id: `${i} ${text}`, items: [item] });
    last = text;
  }
  return groups;
}
