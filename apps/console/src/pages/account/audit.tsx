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
import { actionText } from '../../text/action-text.ts';
import { formatTime } from '../../text/format.ts';

export const useAuditDownload = () =>
  useMutation({
    mutationFn: async () => {
      const { data } = await client.accounts.exportAudit();
      saveFile('audit.ndjson', data as Uint8Array<ArrayBuffer>);
    },
    onError: complain,
  });

const route = getRouteApi('/inside/account');

export function AuditTrail() {
  const { by, what = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: { by?: string; what?: string }) =>
    void navigate({ search: before => ({ ...before, ...part }), replace: true });
  const trail = usePages(['audit'], cursor => client.accounts.listAudit({ limit: 100, ...cursor }));
  const { data: members = [] } = useMembers();
  const download = useAuditDownload();
  const personOf = (userId: string | undefined): string | undefined =>
    members.find(one => one.userId === userId)?.email ?? userId;
  const words = (row: Entry): string => `${personOf(row.by) ?? viaOf(row.via)} ${actionText(row.action)}`;
  const isShown = (row: Entry): boolean =>
    (by === undefined || row.by === by) &&
    [words(row), row.action, row.detail, row.target, row.address]
      .join(' ')
      .toLowerCase()
      .includes(what.toLowerCase());
  const people = [...new Set(trail.data?.flatMap(row => row.by ?? []))];
  return (
    <Stack>
      <Group align="end">
        <Select
          label="Person"
          placeholder="Everybody"
          data={people.map(userId => ({ value: userId, label: personOf(userId)! }))}
          value={by ?? null}
          clearable
          onChange={value => change({ by: value ?? undefined })}
        />
        <TextInput
          label="Search"
          placeholder="What, to what or from where"
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
                rows.length === 0
                  ? 'Nothing has happened yet.'
                  : 'Nothing of what is loaded is like this. Show older entries, or clear the filters.'
              }
              columns={[
                { label: 'When', show: row => <span className="stak-nowrap">{formatTime(row.at)}</span> },
                { label: 'What', show: row => <span title={row.action}>{words(row)}</span> },
                {
                  label: 'To',
                  show: row => (
                    <span className="stak-mono stak-break">{row.detail ?? row.target ?? '–'}</span>
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
