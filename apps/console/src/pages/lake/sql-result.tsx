import { Alert, Button, Card, Group, SegmentedControl, Skeleton, Stack, Table, Text } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { csvLine } from '@stak/kit/csv';
import { IconDownload } from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import { Freshness } from '../../components/freshness.tsx';
import { saveFile } from '../../components/saved-file.ts';
import { lateComponent } from '../../shell/late-module.tsx';
import { formatNumber } from '../../text/format.ts';
import { chartOf, isNumberType } from './result-chart.ts';

export type SqlAnswer = ApiTypes['lake.query']['data'] & { tookMs: number };

const rowsShown = 200; // more than anybody reads; the file has the rest

// A third of the console's script, so it is loaded with the first chart.
const ResultChart = lateComponent(() => import('./result-chart-view.tsx'));

export function SqlResult({ answer }: { answer: SqlAnswer }) {
  const { columns, rows, truncated, tookMs } = answer;
  const chart = chartOf(columns, rows);
  const [isChart, setIsChart] = useState(false);
  const count = rows.length === 1 ? '1 row' : `${formatNumber(rows.length)} rows`;
  return (
    <Card withBorder>
      <Group justify="space-between" mb="xs">
        <Group gap="md">
          <Text size="sm" fw={600} role="status">
            {count} in {formatNumber(Math.round(tookMs))} ms
          </Text>
          <Freshness of={answer} />
        </Group>
        {rows.length > 0 && (
          <Group gap="xs">
            {chart && (
              <SegmentedControl
                size="xs"
                aria-label="Result as"
                data={[
                  { value: 'table', label: 'Table' },
                  { value: 'chart', label: 'Chart' },
                ]}
                value={isChart ? 'chart' : 'table'}
                onChange={next => setIsChart(next === 'chart')}
              />
            )}
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconDownload size={14} />}
              onClick={() => download(answer)}
            >
              Download CSV
            </Button>
          </Group>
        )}
      </Group>
      {truncated && (
        <Alert color="orange" mb="xs">
          There are more rows than one answer holds. Narrow the query or group the rows.
        </Alert>
      )}
      {rows.length === 0 ? (
        <Text c="dimmed">No row is like this.</Text>
      ) : isChart && chart ? (
        <Suspense fallback={<Skeleton h={280} />}>
          <ResultChart chart={chart} />
        </Suspense>
      ) : (
        <Stack gap="xs">
          <Table.ScrollContainer
            minWidth={Math.min(480, columns.length * 120)}
            maxHeight={480}
            scrollAreaProps={{ tabIndex: 0, 'aria-label': 'Result' }}
          >
            <Table aria-label="Result" stickyHeader verticalSpacing={6} highlightOnHover>
              <Table.Thead className="stak-sticky">
                <Table.Tr>
                  {columns.map(({ name, type }, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have one name
                    <Table.Th key={at} ta={isNumberType(type) ? 'right' : undefined}>
                      {name}
                      <Text span size="xs" c="dimmed" fw={400} ml={6} tt="lowercase">
                        {type}
                      </Text>
                    </Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.slice(0, rowsShown).map((row, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: rows have no names
                  <Table.Tr key={at}>
                    {columns.map(({ type }, column) => (
                      // biome-ignore lint/suspicious/noArrayIndexKey: as above
                      <Table.Td key={column} ta={isNumberType(type) ? 'right' : undefined}>
                        <Value value={row[column]} />
                      </Table.Td>
                    ))}
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
          {rows.length > rowsShown && (
            <Text size="sm" c="dimmed">
              The first {rowsShown} rows. The file has all {formatNumber(rows.length)}.
            </Text>
          )}
        </Stack>
      )}
    </Card>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined)
    return (
      <Text span size="sm" c="dimmed" fs="italic">
        null
      </Text>
    );
  return (
    <span className="stak-figures stak-break">
      {typeof value === 'object' ? JSON.stringify(value) : String(value)}
    </span>
  );
}

function download({ columns, rows }: SqlAnswer): void {
  const text = [columns.map(({ name }) => name), ...rows].map(csvLine).join('');
  saveFile('result.csv', text);
}
