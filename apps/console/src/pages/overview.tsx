import { Card, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { client } from '../api.ts';
import { Failure } from '../failure.tsx';

export function OverviewPage() {
  const me = useQuery({ queryKey: ['me'], queryFn: async () => (await client.accounts.getMe()).data });
  return (
    <Stack>
      <Title order={2}>Overview</Title>
      {me.error && <Failure error={me.error} onRetry={() => me.refetch()} />}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }}>
        <Card withBorder>
          <Text c="dimmed" size="sm">
            Events this month
          </Text>
          <Text size="xl" fw={600}>
            {me.data?.usageThisMonth ?? '…'}
          </Text>
        </Card>
      </SimpleGrid>
    </Stack>
  );
}
