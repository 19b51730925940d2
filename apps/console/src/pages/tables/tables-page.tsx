import './tables.css';
import { Card, Stack, Text, Title } from '@mantine/core';
import { DataTable } from '../../components/display/data-table.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { isMissing } from '../../components/feedback/nothing-here.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { usePageTitle } from '../../shell/page-title.ts';
import { formatBytes, formatNumber, formatTime } from '../../text/format.ts';
import { OperatorsOnly } from './operators-only.tsx';
import { useTables } from './queries.ts';
import { formatUnits } from './units.ts';

export function TablesPage() {
  const tables = useTables();
  usePageTitle('Tables');
  if (isMissing(tables.error)) return <OperatorsOnly />;
  return (
    <Stack>
      <div>
        <Title order={2}>Tables</Title>
        <Text c="dimmed">
          Every table as it is stored, with the items of all customers. You see this because you operate this
          server.
        </Text>
      </div>
      <Loaded query={tables}>
        {({ data, since }) => (
          <>
            <Card withBorder>
              <DataTable
                label="Tables"
                rows={data}
                keyOf={row => row.name}
                empty="There is no table."
                columns={[
                  {
                    label: 'Table',
                    show: row => (
                      <>
                        <TextLink to="/tables/$table" params={{ table: row.name }} fw={600}>
                          {row.name}
                        </TextLink>
                        <Text size="xs" c="dimmed" maw={420} miw={180}>
                          {row.description}
                        </Text>
                      </>
                    ),
                  },
                  { label: 'Items', show: row => formatNumber(row.items), isNumber: true },
                  {
                    label: 'Size',
                    show: row => <span className="stak-nowrap">{formatBytes(row.bytes)}</span>,
                    isNumber: true,
                  },
                  { label: 'Entities', show: row => row.entities, isNumber: true },
                  { label: 'Indexes', show: row => row.indexes, isNumber: true },
                  { label: 'Expires by', show: row => row.ttl ?? '–' },
                  { label: 'Stream', show: row => (row.stream ? 'Yes' : '–') },
                  { label: 'Read units', show: row => formatUnits(row.read_units), isNumber: true },
                  { label: 'Write units', show: row => formatUnits(row.write_units), isNumber: true },
                ]}
              />
            </Card>
            <Text size="xs" c="dimmed">
              Units are what DynamoDB bills for on demand, counted since this server started:{' '}
              {formatTime(since)}.
            </Text>
          </>
        )}
      </Loaded>
    </Stack>
  );
}
