import { Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { DataTable } from '../../components/display/data-table.tsx';
import { StatusBadge } from '../../components/display/status-badge.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import type { Tenant } from '../../queries/tenants.ts';
import { formatAgo, formatTime } from '../../text/format.ts';
import { TenantList } from '../tenants/tenant-list.tsx';

export function AgentsPage() {
  const navigate = useNavigate();
  return (
    <TenantList
      title="Agents"
      about="Each tenant is one of your customers, with an agent of its own: it answers that tenant's users by rules, by skills and by a model, within the tenant's quota."
      onMade={tenant => void navigate({ to: '/agents/$tenant', params: { tenant } })}
      table={rows => <TenantTable rows={rows} />}
    />
  );
}

const TenantTable = ({ rows }: { rows: Tenant[] }) => (
  <DataTable
    label="Tenants"
    rows={rows}
    keyOf={row => row.tenant_id}
    minWidth={300}
    empty="There is no tenant yet. Create one and talk to its agent."
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
