import { Stack } from '@mantine/core';
import { Heading } from '../../components/display/section.tsx';
import { isWithoutLake } from '../../components/feedback/lake-failure.tsx';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { Capacity } from './capacity.tsx';
import { refetchInterval } from './system-refetch.ts';
import { TableLags } from './table-lags.tsx';

type Status = Awaited<ReturnType<typeof client.system.status>>['data'];

export function SystemStatus({ status }: { status: Status }) {
  const lake = useAnswer(['lake-status'], () => client.lake.status(), { refetchInterval, retry: false });
  return (
    <Stack gap="sm" component="section" aria-label="System">
      <Heading>System</Heading>
      <TableLags status={status} lake={isWithoutLake(lake.error) ? 'off' : lake.data?.tables} />
      {status.operator && <Capacity at={status.at} {...status.operator} />}
    </Stack>
  );
}
