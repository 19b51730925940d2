import { Button, Group, Stack } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { complain } from '../../components/complaint.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Permitted } from '../../components/permitted.tsx';
import { saveFile } from '../../components/saved-file.ts';
import { client } from '../../queries/api.ts';
import { useMembers } from '../../queries/organisation.ts';
import { formatTime } from '../../text/format.ts';

export const useAuditDownload = () =>
  useMutation({
    mutationFn: async () => {
      const { data } = await client.accounts.exportAudit();
      saveFile('audit.ndjson', data as Uint8Array<ArrayBuffer>);
    },
    onError: complain,
  });

export function AuditTrail() {
  const trail = useQuery({
    queryKey: ['audit'],
    queryFn: async () => (await client.accounts.listAudit({ limit: 100 })).data.data,
  });
  const { data: members = [] } = useMembers();
  const download = useAuditDownload();
  const personOf = (userId: string | undefined): string | undefined =>
    members.find(one => one.userId === userId)?.email ?? userId;
  return (
    <Loaded query={trail}>
      {rows => (
        <Stack>
          <Group justify="end">
            <Permitted to="accounts.exportAudit">
              <Button variant="default" loading={download.isPending} onClick={() => download.mutate()}>
                Download all
              </Button>
            </Permitted>
          </Group>
          <DataTable
            label="Audit trail"
            rows={rows}
            keyOf={row => row.auditId}
            empty="Nothing has happened yet."
            columns={[
              { label: 'When', show: row => <span className="stak-nowrap">{formatTime(row.at)}</span> },
              { label: 'What', show: row => row.action },
              {
                label: 'To',
                show: row => <span className="stak-mono">{row.detail ?? row.target ?? ''}</span>,
              },
              {
                label: 'By',
                show: row => <span className="stak-nowrap">{personOf(row.by) ?? row.via}</span>,
              },
              { label: 'With', show: row => row.via },
              { label: 'From', show: row => row.address ?? '–' },
            ]}
          />
        </Stack>
      )}
    </Loaded>
  );
}
