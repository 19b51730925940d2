import { Stack, Text, Title } from '@mantine/core';
import { isWithoutLake } from '../../components/feedback/lake-failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { paced } from '../../queries/pace.ts';
import { usePageTitle } from '../../shell/page-title.ts';
import { OperatorsOnly } from '../tables/operators-only.tsx';
import { Capacity } from './capacity.tsx';
import { TableLags } from './table-lags.tsx';

const refetchInterval = paced(15_000);

type Status = Awaited<ReturnType<typeof client.system.status>>['data'];

function SystemStatus({ status }: { status: Status }) {
  const lake = useAnswer(['lake-status'], () => client.lake.status(), { refetchInterval, retry: false });
  return (
    <>
      <TableLags status={status} lake={isWithoutLake(lake.error) ? 'off' : lake.data?.tables} />
      {status.operator && <Capacity at={status.at} {...status.operator} />}
    </>
  );
}

/** What the server itself does, for those who operate it. */
export function ServerPage() {
  usePageTitle('Server');
  const system = useAnswer(['system-status'], () => client.system.status(), { refetchInterval });
  if (system.data?.operator === null) return <OperatorsOnly />;
  return (
    <Stack>
      <div>
        <Title order={2}>Server</Title>
        <Text c="dimmed">
          How the server keeps up, and what it consumes for all customers. You see this because you operate
          it.
        </Text>
      </div>
      <Loaded query={system}>{status => <SystemStatus status={status} />}</Loaded>
    </Stack>
  );
}
