import { Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';

type Column<Row> = { label: string; show: (row: Row) => ReactNode; isNumber?: boolean };

type Props<Row> = {
  label: string; // what a screen reader calls it
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty: string; // what to do when there is nothing
  minWidth?: number; // narrower than this, it scrolls
};

// A list of things, one a line. It scrolls by itself where the screen is narrow.
export function DataTable<Row>({ label, columns, rows, keyOf, empty, minWidth = 480 }: Props<Row>) {
  if (rows.length === 0) return <Text c="dimmed">{empty}</Text>;
  return (
    <Table.ScrollContainer minWidth={minWidth} scrollAreaProps={{ tabIndex: 0, 'aria-label': label }}>
      <Table aria-label={label} verticalSpacing="xs" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            {columns.map(column => (
              <Table.Th key={column.label} ta={column.isNumber ? 'right' : undefined}>
                {column.label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(row => (
            <Table.Tr key={keyOf(row)}>
              {columns.map(column => (
                <Table.Td key={column.label} ta={column.isNumber ? 'right' : undefined}>
                  {column.show(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
