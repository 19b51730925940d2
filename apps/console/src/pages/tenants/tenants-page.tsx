import { useNavigate } from '@tanstack/react-router';
import { DataTable } from '../../components/display/data-table.tsx';
import { StatusBadge } from '../../components/display/status-badge.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { formatAgo, formatTime } from '../../text/format.ts';
import { TenantList } from './tenant-list.tsx';

export function TenantsPage() {
  const navigate = useNavigate();
  return (
    <TenantList
      title="Tenants"
      about="Each tenant is one of your customers: its users, invitations, tokens and settings. Inboxes and agents belong to a tenant."
      onMade={tenant => void navigate({ to: '/tenants/$tenant', params: { tenant } })}
      table={rows => (
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
            { label: 'ID', show: row => <span className="stak-mono">{row.tenant_id}</span> },
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
      )}
    />
  );
}
