import { Button, Card, Group, Modal, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { DataTable } from '../../components/data-table.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { More, usePages } from '../../components/pages.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { TextLink } from '../../components/text-link.tsx';
import { client } from '../../queries/api.ts';
import { type Tenant, tenantsKey } from '../../queries/tenants.ts';
import { usePageTitle } from '../../shell/page-title.ts';
import { formatAgo, formatTime } from '../../text/format.ts';
import { TenantForm } from '../inbox/tenant-form.tsx';

export function AgentsPage() {
  usePageTitle('Agents');
  const navigate = useNavigate();
  const [isOpen, { open, close }] = useDisclosure(false);
  const tenants = usePages([...tenantsKey, 'pages'], cursor => client.tenants.list({ limit: 50, ...cursor }));
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2}>Agents</Title>
        <Button data-create leftSection={<IconPlus size={16} />} onClick={open}>
          New tenant
        </Button>
      </Group>
      <Text c="dimmed" size="sm" maw={640}>
        Each tenant is one of your customers, with an agent of its own: it answers that tenant's users by
        rules, by skills and by a model, within the tenant's quota.
      </Text>
      <Loaded query={tenants}>
        {rows => (
          <Card withBorder>
            <TenantTable rows={rows} />
          </Card>
        )}
      </Loaded>
      <More of={tenants} label="More tenants" />
      <Modal opened={isOpen} onClose={close} title="New tenant">
        <TenantForm onMade={tenant => void navigate({ to: '/agents/$tenant', params: { tenant } })} />
      </Modal>
    </Stack>
  );
}

const TenantTable = ({ rows }: { rows: Tenant[] }) => (
  <DataTable
    label="Tenants"
    rows={rows}
    keyOf={row => row.tenant_id}
    minWidth={300}
    empty="There is no tenant yet. Make one, and talk to its agent."
    columns={[
      {
        label: 'Name',
        show: row => (
          <>
            <TextLink to="/agents/$tenant" params={{ tenant: row.tenant_id }} size="sm" fw={600}>
              {row.name}
            </TextLink>
            <Text size="xs" c="dimmed" className="stak-break">
              {row.tenant_id}
            </Text>
          </>
        ),
      },
      { label: 'Status', show: row => <StatusBadge status={row.status} /> },
      {
        label: 'Created',
        show: row => <span title={formatTime(row.created_at)}>{formatAgo(row.created_at)}</span>,
      },
    ]}
  />
);
