import { Button, Group, Select, Stack, TextInput } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { complain } from '../../components/complaint.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { More, usePages } from '../../components/pages.tsx';
import { Permitted } from '../../components/permitted.tsx';
import { saveFile } from '../../components/saved-file.ts';
import { client } from '../../queries/api.ts';
import { useMembers } from '../../queries/organisation.ts';
import { actionText, targetText } from '../../text/action-text.ts';
import { addDays } from '../../text/days.ts';
import { formatTime } from '../../text/format.ts';
import type { AccountSearch } from './address.ts';

export const useAuditDownload = () =>
  useMutation({
    mutationFn: async () => {
      const { data } = await client.accounts.exportAudit();
      saveFile('audit.ndjson', data as Uint8Array<ArrayBuffer>);
    },
    onError: complain,
  });

const route = getRouteApi('/inside/account');

// What actions begin with, in the order in which people look for them.
const areas = [
  { value: 'session', label: 'Signing in and out' },
  { value: 'member', label: 'Members' },
  { value: 'invitation', label: 'Invitations' },
  { value: 'key', label: 'API keys' },
  { value: 'app', label: 'Apps' },
  { value: 'password', label: 'Passwords' },
  { value: 'passkey', label: 'Passkeys' },
  { value: 'account', label: 'The account' },
  { value: 'webhooks', label: 'Webhooks' },
  { value: 'inbox', label: 'Inboxes' },
  { value: 'tenants', label: 'Tenants' },
  { value: 'agents', label: 'Agents' },
];

// A day begins where the reader is.
const startOf = (day: string): string => new Date(`${day}T00:00`).toISOString();

export function AuditTrail() {
  const { by, action, from, to, what = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: Partial<AccountSearch>) =>
    void navigate({ search: before => ({ ...before, ...part }), replace: true });
  const filter = {
    ...(by && { by }),
    ...(action && { action }),
    ...(from && { from: startOf(from) }),
    ...(to && { to: startOf(addDays(to, 1)) }),
  };
  const trail = usePages(['audit', filter], cursor =>
    client.accounts.listAudit({ limit: 100, ...filter, ...cursor }),
  );
  const { data: members = [] } = useMembers();
  const download = useAuditDownload();
  const personOf = (userId: string | undefined): string | undefined =>
    members.find(one => one.userId === userId)?.email ?? userId;
  const words = (row: Entry): string => `${personOf(row.by) ?? viaOf(row.via)} ${actionText(row.action)}`;
  const isShown = (row: Entry): boolean =>
    [words(row), row.action, row.detail, row.target, targetText(row.target ?? ''), row.address]
      .join(' ')
      .toLowerCase()
      .includes(what.toLowerCase());
  // Also those who have left, as far as the trail names them.
  const people = [
    ...new Set([
      ...members.map(one => one.userId),
      ...(trail.data?.flatMap(row => row.by ?? []) ?? []),
      ...(by ? [by] : []),
    ]),
  ];
  return (
    <Stack>
      <Group align="end" className="stak-filters">
        <Select
          label="Person"
          placeholder="Everybody"
          data={people.map(userId => ({ value: userId, label: personOf(userId)! }))}
          value={by ?? null}
          clearable
          clearButtonProps={{ 'aria-label': 'Everybody' }}
          searchable
          onChange={value => change({ by: value ?? undefined })}
        />
        <Select
          label="Action"
          placeholder="All"
          data={areas}
          value={action ?? null}
          clearable
          clearButtonProps={{ 'aria-label': 'All actions' }}
          onChange={value => change({ action: value ?? undefined })}
        />
        <TextInput
          label="From"
          type="date"
          value={from ?? ''}
          onChange={event => change({ from: event.currentTarget.value || undefined })}
        />
        <TextInput
          label="To"
          type="date"
          value={to ?? ''}
          onChange={event => change({ to: event.currentTarget.value || undefined })}
        />
        <TextInput
          label="Search"
          placeholder="In what is loaded"
          data-search
          flex="1 1 14rem"
          value={what}
          onChange={event => change({ what: event.currentTarget.value || undefined })}
        />
        <Permitted to="accounts.exportAudit">
          <Button variant="default" ml="auto" loading={download.isPending} onClick={() => download.mutate()}>
            Download all
          </Button>
        </Permitted>
      </Group>
      <Loaded query={trail}>
        {rows => (
          <>
            <DataTable
              label="Audit trail"
              rows={rows.filter(isShown)}
              keyOf={row => row.auditId}
              empty={
                rows.length > 0 || trail.hasNextPage
                  ? 'Nothing of what is loaded is like this. Show older entries, or clear the filters.'
                  : Object.keys(filter).length > 0
                    ? 'Nothing like this has happened. Clear the filters.'
                    : 'Nothing has happened yet.'
              }
              columns={[
                { label: 'When', show: row => <span className="stak-nowrap">{formatTime(row.at)}</span> },
                { label: 'What', show: row => <span title={row.action}>{words(row)}</span> },
                {
                  label: 'To',
                  show: row => (
                    <span className="stak-break" title={row.target}>
                      {row.detail ?? (row.target ? targetText(row.target) : '–')}
                    </span>
                  ),
                },
                { label: 'With', show: row => viaOf(row.via) },
                { label: 'From', show: row => row.address ?? '–' },
              ]}
            />
            <More of={trail} label="Show older entries" />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

type Entry = ApiTypes['accounts.listAudit']['data']['data'][number];

const viaOf = (via: string): string => via.replaceAll('_', ' ').replace('api key', 'API key');
