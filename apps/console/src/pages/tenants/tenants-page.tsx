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
import { tenantsKey } from '../../queries/tenants.ts';
import { usePageTitle } from '../../shell/page-title.ts';
import { formatAgo, formatTime } from '../../text/format.ts';
import { TenantForm } from '../inbox/tenant-form.tsx';

export function TenantsPage() {
  usePageTitle('Tenants');
  const navigate = useNavigate();
  const [isOpen, { open, close }] = useDisclosure(false);
  const tenants = usePages([...tenantsKey, 'pages'], cursor => client.tenants.list({ limit: 50, ...cursor }));
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2}>Tenants</Title>
        <Button data-create leftSection={<IconPlus size={16} />} onClick={open}>
          New tenant
        </Button>
      </Group>
      <Text c="dimmed" size="sm" maw={640}>
        Each tenant is one of your customers: its users, invitations, tokens and settings. Inboxes and agents
        belong to a tenant.
      </Text>
      <Loaded query={tenants}>
        {rows => (
          <Card withBorder>
            <DataTable
              label="Tenants"
              rows={rows}
              keyOf={row => row.tenant_id}
              empty="There is no tenant yet. Create one for your first customer."
              columns={[
                {
                  label: 'Name',
                  show: row => (
                    <TextLink to="/tenants/$tenant" params={{ tenant: row.tenant_id }} size="sm" fw={600}>
                      {row.name}
                    </TextLink>
                  ),
                },
                { label: 'Id', show: row => <span className="stak-mono">{row.tenant_id}</span> },
                { label: 'Status', show: row => <StatusBadge status={row.status} /> },
                {
                  label: 'Created',
                  show: row => <span title={formatTime(row.created_at)}>{formatAgo(row.created_at)}</span>,
                },
                {
                  label: 'Agent',
                  show: row => (
                    <TextLink to="/agents/$tenant" params={{ tenant: row.tenant_id }} size="sm">
                      Talk to the agent
                    </TextLink>
                  ),
                },
              ]}
            />
          </Card>
        )}
      </Loaded>
      <More of={tenants} label="More tenants" />
      <Modal opened={isOpen} onClose={close} title="New tenant">
        <TenantForm onMade={tenant => void navigate({ to: '/tenants/$tenant', params: { tenant } })} />
      </Modal>
    </Stack>
  );
}
