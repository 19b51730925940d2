import { Badge, Button, Card, Group, Progress, SimpleGrid, Stack, Tabs, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client, messageOf } from '../api.ts';
import { DataTable } from '../data-table.tsx';
import { formatAgo, formatBytes, formatNumber, formatTime } from '../format.ts';
import { Loaded } from '../loaded.tsx';
import { ApiKeys } from './api-keys.tsx';

export function AccountPage() {
  return (
    <Stack>
      <Title order={2}>Account</Title>
      <Plan />
      <Tabs defaultValue="keys" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="keys">API keys</Tabs.Tab>
          <Tabs.Tab value="sessions">Sessions</Tabs.Tab>
          <Tabs.Tab value="audit">Audit trail</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="keys" pt="md">
          <ApiKeys />
        </Tabs.Panel>
        <Tabs.Panel value="sessions" pt="md">
          <Sessions />
        </Tabs.Panel>
        <Tabs.Panel value="audit" pt="md">
          <AuditTrail />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

function Plan() {
  const me = useQuery({ queryKey: ['me'], queryFn: async () => (await client.accounts.getMe()).data });
  const usage = useQuery({
    queryKey: ['usage'],
    queryFn: async () => (await client.accounts.getUsage()).data,
  });
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <Card withBorder>
        <Loaded query={me}>
          {({ name, email, plan }) => (
            <Group justify="space-between">
              <div>
                <Text fw={600}>{name}</Text>
                <Text c="dimmed" size="sm">
                  {email}
                </Text>
              </div>
              <Badge size="lg">{plan}</Badge>
            </Group>
          )}
        </Loaded>
      </Card>
      <Card withBorder>
        <Loaded query={usage}>
          {({ usageThisMonth, eventsPerMonth, storage }) => (
            <>
              <Text size="sm">
                {formatNumber(usageThisMonth)} of {formatNumber(eventsPerMonth)} events this month
              </Text>
              <Progress
                mt="xs"
                value={Math.min(100, (100 * usageThisMonth) / eventsPerMonth)}
                aria-label="Events used this month"
              />
              <Storage {...storage} />
            </>
          )}
        </Loaded>
      </Card>
    </SimpleGrid>
  );
}

type StorageProps = {
  usedBytes: number;
  limitBytes: number | null;
  isComplete: boolean;
  services: readonly { service: string; bytes: number }[];
};

function Storage({ usedBytes, limitBytes, isComplete, services }: StorageProps) {
  const share = limitBytes === null ? undefined : (100 * usedBytes) / limitBytes;
  const color = share === undefined || share < 80 ? undefined : share < 100 ? 'yellow' : 'red';
  return (
    <>
      <Text size="sm" mt="md">
        {formatBytes(usedBytes)}
        {limitBytes !== null && ` of ${formatBytes(limitBytes)}`} stored{!isComplete && ', still counting'}
      </Text>
      {share !== undefined && (
        <Progress mt="xs" value={Math.min(100, share)} color={color} aria-label="Storage used" />
      )}
      <Text size="xs" c="dimmed" mt="xs">
        {services.map(({ service, bytes }) => `${service} ${formatBytes(bytes)}`).join(' · ')}
      </Text>
    </>
  );
}

function Sessions() {
  const queries = useQueryClient();
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: async () => (await client.accounts.listSessions()).data.data,
  });
  const end = useMutation({
    mutationFn: (sessionId: string) => client.accounts.endSession({ sessionId }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
    onError: error => notifications.show({ color: 'red', message: messageOf(error) }),
  });
  return (
    <Loaded query={sessions}>
      {rows => (
        <DataTable
          label="Sessions"
          rows={rows}
          keyOf={row => row.sessionId}
          empty="Nobody is signed in."
          columns={[
            { label: 'Where', show: row => row.userAgent ?? 'Unknown' },
            { label: 'Address', show: row => row.address ?? '–' },
            { label: 'Signed in', show: row => formatTime(row.createdAt) },
            { label: 'Last used', show: row => formatAgo(row.lastUsedAt) },
            {
              label: '',
              show: row =>
                row.isCurrent ? (
                  <Badge variant="light">This one</Badge>
                ) : (
                  <Button size="compact-sm" variant="default" onClick={() => end.mutate(row.sessionId)}>
                    End
                  </Button>
                ),
            },
          ]}
        />
      )}
    </Loaded>
  );
}

function AuditTrail() {
  const trail = useQuery({
    queryKey: ['audit'],
    queryFn: async () => (await client.accounts.listAudit({ limit: 100 })).data.data,
  });
  return (
    <Loaded query={trail}>
      {rows => (
        <DataTable
          label="Audit trail"
          rows={rows}
          keyOf={row => row.auditId}
          empty="Nothing has happened yet."
          columns={[
            { label: 'When', show: row => formatTime(row.at) },
            { label: 'What', show: row => row.action },
            { label: 'To', show: row => <span className="stak-mono">{row.detail ?? row.target ?? ''}</span> },
            { label: 'By', show: row => row.via },
            { label: 'From', show: row => row.address ?? '–' },
          ]}
        />
      )}
    </Loaded>
  );
}
