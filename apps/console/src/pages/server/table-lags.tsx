import { Card, Group, Text, Title } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { DataTable } from '../../components/display/data-table.tsx';
import { StatusBadge } from '../../components/display/status-badge.tsx';
import { counted, formatLag } from '../../text/format.ts';
import { tableTitle } from '../../text/table-title.ts';
import { type Lag, lagsOf, type TableLag } from './lags.ts';

type SystemStatus = ApiTypes['system.status']['data'];
type LakeTable = ApiTypes['lake.status']['data']['tables'][number];
type Props = { status: SystemStatus; lake: readonly LakeTable[] | 'off' | undefined };

const busyMs = 5_000; // the usual lag for a moment after a write
const lateMs = 60_000; // a longer lag means more than being busy
const shortNumber = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

// How far the consumers of each table lag behind, and for operators what the table has cost.
export function TableLags({ status, lake }: Props) {
  const { running, waiting } = status.workers;
  const costs = new Map(status.operator?.capacity.tables.map(table => [table.table, table]));
  const missing = lake === undefined ? '…' : lake === 'off' ? 'off' : '–';
  const shown = (table: string, name: 'calls' | 'read_units' | 'write_units') =>
    shortNumber.format(costs.get(table)?.[name] ?? 0);
  return (
    <Card withBorder>
      <Group justify="space-between" mb="xs">
        <Title order={4} size="h5">
          How up to date everything is
        </Title>
        {waiting.length === 0 ? (
          <StatusBadge status="ready" label={`${counted(running, 'worker')} running`} />
        ) : (
          <StatusBadge status="retrying" label={`Starting again: ${waiting.join(', ')}`} />
        )}
      </Group>
      <DataTable
        label="Lags"
        rows={lagsOf(status.streams, Array.isArray(lake) ? lake : [], [...costs.keys()])}
        keyOf={row => row.table}
        empty="Nothing is followed."
        minWidth={status.operator ? 560 : 320}
        columns={[
          {
            label: 'Data',
            show: row => <TableName table={row.table} isOperator={status.operator !== null} />,
          },
          { label: 'Effects', show: row => <ShowLag of={row.effects} missing="–" /> },
          { label: 'Lake', show: row => <ShowLag of={row.lake} missing={row.effects ? missing : '–'} /> },
          ...(status.operator
            ? ([
                { label: 'Calls', show: (row: TableLag) => shown(row.table, 'calls'), isNumber: true },
                {
                  label: 'Units read',
                  show: (row: TableLag) => shown(row.table, 'read_units'),
                  isNumber: true,
                },
                {
                  label: 'Units written',
                  show: (row: TableLag) => shown(row.table, 'write_units'),
                  isNumber: true,
                },
              ] as const)
            : []),
        ]}
      />
      <Text size="xs" c="dimmed" mt="xs">
        Effects follow each change: live updates, counters, reminders. They and the lake come a moment after
        the write, and catch up by themselves.
      </Text>
    </Card>
  );
}

// Operators know tables by their names.
const TableName = ({ table, isOperator }: { table: string; isOperator: boolean }) => (
  <>
    {tableTitle(table)}
    {isOperator && (
      <Text span size="xs" c="dimmed" className="stak-mono stak-nowrap" display="block">
        {table}
      </Text>
    )}
  </>
);

function ShowLag({ of, missing }: { of: Lag | undefined; missing: string }) {
  if (!of)
    return (
      <Text span size="sm" c="dimmed">
        {missing}
      </Text>
    );
  if (of.caught_up) return <StatusBadge status="ready" label="up to date" />;
  if (of.set_aside) return <StatusBadge status="failed" label="Dead letters" />;
  const status = of.lag_ms > lateMs ? 'failed' : of.lag_ms > busyMs ? 'retrying' : 'ready';
  return <StatusBadge status={status} label={`${formatLag(of.lag_ms)} behind`} />;
}
