import { Alert, Button, Card, Group, Stack, Table, Text } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { csvLine } from '@stak/kit/csv';
import { IconDownload } from '@tabler/icons-react';
import { Freshness } from '../../components/freshness.tsx';
import { formatNumber } from '../../text/format.ts';

export type SqlAnswer = ApiTypes['lake.query']['data'] & { tookMs: number };

const rowsShown = 200; // more than anybody reads; the file has the rest
const numberTypes = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT|INTEGER|UINTEGER|DOUBLE|FLOAT|DECIMAL)/;

export function SqlResult({ answer }: { answer: SqlAnswer }) {
  const { columns, rows, truncated, tookMs } = answer;
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
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconDownload size={14} />}
            onClick={() => download(answer)}
          >
            Download CSV
          </Button>
        )}
      </Group>
      {truncated && (
        <Alert color="orange" mb="xs">
          There were more rows than an answer holds. Narrow the query, or group the rows.
        </Alert>
      )}
      {rows.length === 0 ? (
        <Text c="dimmed">No row is like this.</Text>
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
                    <Table.Th key={at} ta={numberTypes.test(type) ? 'right' : undefined}>
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
                      <Table.Td key={column} ta={numberTypes.test(type) ? 'right' : undefined}>
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
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = Object.assign(document.createElement('a'), { href: address, download: 'result.csv' });
  link.click();
  URL.revokeObjectURL(address);
}
