import { Box, Button, Card, Group, Select, Stack, TextInput } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { DataTable } from '../../components/display/data-table.tsx';
import { More, usePages } from '../../components/display/pages.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { CopyIcon } from '../../components/fields/copy.tsx';
import { saveFile } from '../../components/fields/saved-file.ts';
import { useAction } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { useMembers } from '../../queries/organisation.ts';
import { useMay } from '../../queries/permissions.ts';
import { actionText, targetText, viaText } from '../../text/action-text.ts';
import { withCapital } from '../../text/capital.ts';
import { addDays } from '../../text/days.ts';
import { formatTime } from '../../text/format.ts';
import { sourcesQuery, useConnectionsOf } from '../webhooks/queries.ts';
import type { AccountSearch } from './address.ts';

export const useAuditDownload = () =>
  useAction(async () => {
    const { data } = await client.accounts.exportAudit();
    saveFile('audit.ndjson', data as Uint8Array<ArrayBuffer>);
  });

const route = getRouteApi('/inside/account');

// Prefixes of actions, the most searched ones first.
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

// The start of the day in the reader's time zone.
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
    members.find(member => member.userId === userId)?.email ?? userId;
  const names = useWebhookNames(trail.data ?? []);
  const words = (row: Entry): string => `${personOf(row.by) ?? viaText(row.via)} ${actionText(row.action)}`;
  const isShown = (row: Entry): boolean =>
    [words(row), row.action, row.detail, row.target, targetText(row.target ?? '', names), row.address]
      .join(' ')
      .toLowerCase()
      .includes(what.toLowerCase());
  // Includes people who have left, if the loaded entries name them.
  const people = [
    ...new Set([
      ...members.map(member => member.userId),
      ...(trail.data?.flatMap(row => row.by ?? []) ?? []),
      ...(by ? [by] : []),
    ]),
  ];
  return (
    <Stack>
      <Group align="end" className="stak-filters">
        <Select
          label="Person"
          placeholder="Everyone"
          data={people.map(userId => ({ value: userId, label: personOf(userId)! }))}
          value={by ?? null}
          clearable
          clearButtonProps={{ 'aria-label': 'Everyone' }}
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
          placeholder="In loaded entries"
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
          <Card withBorder>
            <DataTable
              label="Audit trail"
              rows={rows.filter(isShown)}
              keyOf={row => row.auditId}
              empty={
                rows.length > 0 || trail.hasNextPage
                  ? 'No loaded entry matches. Show older entries or clear the filters.'
                  : Object.keys(filter).length > 0
                    ? 'No entries match these filters. Clear them to see everything.'
                    : 'Nothing has happened yet.'
              }
              columns={[
                { label: 'When', show: row => <span className="stak-nowrap">{formatTime(row.at)}</span> },
                { label: 'What', show: row => <span title={row.action}>{words(row)}</span>, isTitle: true },
                { label: 'To', show: row => <Target row={row} names={names} /> },
                { label: 'With', show: row => viaText(row.via) },
                { label: 'IP address', show: row => row.address ?? '–' },
              ]}
            />
            <More of={trail} label="Show older entries" />
          </Card>
        )}
      </Loaded>
    </Stack>
  );
}

// The names of sources and connections, asked for only where an entry is about one. Deleted ones have none.
function useWebhookNames(rows: readonly Entry[]): ReadonlyMap<string, string> {
  const may = useMay();
  const concerns = (path: RegExp) => rows.some(({ target }) => target !== undefined && path.test(target));
  const hasConnections = concerns(/^\/v1\/connections\//);
  const { data: sources = [] } = useQuery({
    ...sourcesQuery,
    enabled: may('webhooks.listSources') && (hasConnections || concerns(/^\/v1\/sources\//)),
  });
  const { data: connections } = useConnectionsOf(
    hasConnections ? sources.map(source => source.sourceId) : [],
  );
  return new Map([
    ...sources.map(source => [source.sourceId, source.name] as const),
    ...connections.map(connection => [connection.connectionId, connection.name] as const),
  ]);
}

function Target({ row, names }: { row: Entry; names: ReadonlyMap<string, string> }) {
  const { target = '', detail } = row;
  const id = target.split('/').findLast(step => names.has(step));
  return (
    <Group gap={4} wrap="nowrap">
      <span className="stak-break" title={target}>
        {detail ?? (withCapital(targetText(target, names)) || '–')}
      </span>
      {id !== undefined && (
        <Box my={-4}>
          <CopyIcon value={id} label={`Copy ${id}`} />
        </Box>
      )}
    </Group>
  );
}

type Entry = ApiTypes['accounts.listAudit']['data']['data'][number];
