import { Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { isWithoutLake } from '../../components/lake-failure.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { client } from '../../queries/api.ts';
import { Capacity } from './capacity.tsx';
import { TableLags } from './table-lags.tsx';

const refetchInterval = 5_000;

export function System() {
  const system = useQuery({
    queryKey: ['system-status'],
    queryFn: async () => (await client.system.status()).data,
    refetchInterval,
  });
  const lake = useQuery({
    queryKey: ['lake-status'],
    queryFn: async () => (await client.lake.status()).data,
    refetchInterval,
    retry: false,
  });
  return (
    <Stack gap="sm" component="section" aria-label="System">
      <Title order={3} size="h4">
        System
      </Title>
      <Loaded query={system}>
        {status => (
          <Stack>
            <TableLags status={status} lake={isWithoutLake(lake.error) ? 'off' : lake.data?.tables} />
            {status.operator && <Capacity at={status.at} {...status.operator} />}
          </Stack>
        )}
      </Loaded>
    </Stack>
  );
}
