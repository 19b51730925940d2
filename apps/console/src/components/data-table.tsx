import { Table, Text, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';

type Column<Row> = { label: string; show: (row: Row) => ReactNode; isNumber?: boolean };

type Props<Row> = {
  label: string; // what a screen reader calls it
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty: string; // what to do when there is nothing
  isCurrent?: (row: Row) => boolean; // the one that is open beside it
  minWidth?: number; // narrower than this, it scrolls; not on a phone
};

// A list of things, one a line. A narrow screen scrolls it; on a phone each line is a card that names its columns, and
// the roles say what it still is.
export function DataTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  empty,
  isCurrent,
  minWidth = 480,
}: Props<Row>) {
  if (rows.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {empty}
      </Text>
    );
  return (
    <Table.ScrollContainer
      className="stak-table"
      minWidth={minWidth}
      scrollAreaProps={{
        offsetScrollbars: 'present', // else every table ends with room for a scrollbar
        viewportProps: { tabIndex: 0, role: 'group', 'aria-label': label },
      }}
    >
      <Table role="table" aria-label={label} verticalSpacing="xs" highlightOnHover>
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {columns.map(column => (
              <Table.Th key={column.label} role="columnheader" ta={column.isNumber ? 'right' : undefined}>
                {column.label === '' ? <VisuallyHidden>Actions</VisuallyHidden> : column.label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows.map(row => (
            <Table.Tr key={keyOf(row)} role="row" data-current={isCurrent?.(row) || undefined}>
              {columns.map(column => (
                <Table.Td
                  key={column.label}
                  role="cell"
                  data-column={column.label}
                  ta={column.isNumber ? 'right' : undefined}
                >
                  <div>{column.show(row)}</div>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
