import {
  Alert,
  Button,
  Card,
  Group,
  Menu,
  SegmentedControl,
  Skeleton,
  Stack,
  Table,
  Text,
} from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { IconDownload } from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import { Freshness } from '../../components/feedback/freshness.tsx';
import { saveFile } from '../../components/fields/saved-file.ts';
import { useAction } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { lateComponent } from '../../shell/late-module.tsx';
import { counted, formatNumber } from '../../text/format.ts';
import { chartOf, isNumberType } from './result-chart.ts';

export type SqlAnswer = ApiTypes['lake.query']['data'] & { sql: string; tookMs: number };

const rowsShown = 200; // the download has the rest

// A third of the console's script, so it is loaded with the first chart.
const ResultChart = lateComponent(() => import('./result-chart-view.tsx'));

export function SqlResult({ answer }: { answer: SqlAnswer }) {
  const { columns, rows, truncated, tookMs } = answer;
  const chart = chartOf(columns, rows);
  const [isChart, setIsChart] = useState(false);
  return (
    <Card withBorder>
      <Group justify="space-between" mb="xs">
        <Group gap="md">
          <Text size="sm" fw={600} role="status">
            {counted(rows.length, 'row')} in {formatNumber(Math.round(tookMs))} ms
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
            <Download sql={answer.sql} />
          </Group>
        )}
      </Group>
      {truncated && (
        <Alert color="orange" mb="xs">
          There are more rows than one answer holds. Narrow the query, group the rows, or download a file,
          which holds more.
        </Alert>
      )}
      {rows.length === 0 ? (
        <Text c="dimmed">The query returned no rows.</Text>
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
                    // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have the same name
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
                  // biome-ignore lint/suspicious/noArrayIndexKey: rows have no ids
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
              The first {rowsShown} rows of {formatNumber(rows.length)}. A file has all of them.
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

const formats = { csv: 'CSV', parquet: 'Parquet' } as const;
type Format = keyof typeof formats;

// Runs the query again into a file, which holds more rows than a response and keeps their types.
function Download({ sql }: { sql: string }) {
  const save = useAction(async (format: Format) => {
    const { data } = await client.lake.export({ body: { sql, format } });
    saveFile(`result.${format}`, data as BlobPart);
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconDownload size={14} />}
          loading={save.isPending}
        >
          Download
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(formats).map(([format, label]) => (
          <Menu.Item key={format} onClick={() => save.mutate(format as Format)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
