import { Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { isWithoutLake } from '../../components/lake-failure.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { client } from '../../queries/api.ts';
import { Capacity } from './capacity.tsx';
import { TableLags } from './table-lags.tsx';

// For operators: the workers and tables of the server are none of a customer's concern. Lags and units are read often,
// because an operator watches them.
const refetchInterval = 15_000;

export function System() {
  const system = useQuery({
    queryKey: ['system-status'],
    queryFn: async () => (await client.system.status()).data,
    refetchInterval: ({ state }) => (state.data?.operator ? refetchInterval : false),
  });
  const isOperator = Boolean(system.data?.operator);
  const lake = useQuery({
    queryKey: ['lake-status'],
    queryFn: async () => (await client.lake.status()).data,
    refetchInterval,
    retry: false,
    enabled: isOperator,
  });
  if (!isOperator) return null;
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
