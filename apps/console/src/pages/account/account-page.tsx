import { Badge, Button, Card, Group, Progress, SimpleGrid, Stack, Tabs, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { complain } from '../../components/complaint.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { saveFile } from '../../components/saved-file.ts';
import { client } from '../../queries/api.ts';
import { useMembers } from '../../queries/organisation.ts';
import { formatBytes, formatNumber, formatTime } from '../../text/format.ts';
import { ApiKeys } from './api-keys.tsx';
import { Download } from './download.tsx';
import { Members } from './members.tsx';
import { Profile, Unverified, useMe } from './profile.tsx';
import { Security } from './security.tsx';
import { Sessions } from './sessions.tsx';

const route = getRouteApi('/inside/account');

export function AccountPage() {
  const { tab = 'keys' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Stack>
      <Title order={2}>Account</Title>
      <Unverified />
      <Plan />
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={next => navigate({ search: { tab: next as typeof tab }, replace: true })}
      >
        <Tabs.List>
          <Tabs.Tab value="keys">API keys</Tabs.Tab>
          <Tabs.Tab value="members">Members</Tabs.Tab>
          <Tabs.Tab value="profile">Profile</Tabs.Tab>
          <Tabs.Tab value="security">Security</Tabs.Tab>
          <Tabs.Tab value="sessions">Sessions</Tabs.Tab>
          <Tabs.Tab value="audit">Audit trail</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="keys" pt="md">
          <ApiKeys />
        </Tabs.Panel>
        <Tabs.Panel value="members" pt="md">
          <Members />
        </Tabs.Panel>
        <Tabs.Panel value="profile" pt="md">
          <Stack>
            <Profile />
            <Download />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="security" pt="md">
          <Security />
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
  const me = useMe();
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
                {formatNumber(usageThisMonth)}
                {eventsPerMonth !== null && ` of ${formatNumber(eventsPerMonth)}`} events this month
              </Text>
              {eventsPerMonth !== null && (
                <Progress
                  mt="xs"
                  value={Math.min(100, (100 * usageThisMonth) / eventsPerMonth)}
                  aria-label="Events used this month"
                />
              )}
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

function AuditTrail() {
  const trail = useQuery({
    queryKey: ['audit'],
    queryFn: async () => (await client.accounts.listAudit({ limit: 100 })).data.data,
  });
  const { data: members = [] } = useMembers();
  const download = useMutation({
    mutationFn: async () => {
      const { data } = await client.accounts.exportAudit();
      saveFile('audit.ndjson', data as Uint8Array<ArrayBuffer>);
    },
    onError: complain,
  });
  const personOf = (userId: string | undefined): string | undefined =>
    members.find(one => one.userId === userId)?.email ?? userId;
  return (
    <Loaded query={trail}>
      {rows => (
        <Stack>
          <Group justify="end">
            <Button variant="default" loading={download.isPending} onClick={() => download.mutate()}>
              Download all of it
            </Button>
          </Group>
          <DataTable
            label="Audit trail"
            rows={rows}
            keyOf={row => row.auditId}
            empty="Nothing has happened yet."
            columns={[
              { label: 'When', show: row => formatTime(row.at) },
              { label: 'What', show: row => row.action },
              {
                label: 'To',
                show: row => <span className="stak-mono">{row.detail ?? row.target ?? ''}</span>,
              },
              { label: 'By', show: row => <span className="stak-break">{personOf(row.by) ?? row.via}</span> },
              { label: 'With', show: row => row.via },
              { label: 'From', show: row => row.address ?? '–' },
            ]}
          />
        </Stack>
      )}
    </Loaded>
  );
}
