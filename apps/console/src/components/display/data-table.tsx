import { Table, Text, VisuallyHidden } from '@mantine/core';
import type { MouseEvent, ReactNode } from 'react';

type Column<Row> = {
  label: string;
  show: (row: Row) => ReactNode;
  isNumber?: boolean;
  isTitle?: boolean; // of the card on a phone, instead of the first one
};

type Props<Row> = {
  label: string; // what a screen reader calls it
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty: string; // what to do if there are no rows
  isCurrent?: (row: Row) => boolean; // the row whose details are open beside the table
  // Opens a row that is clicked beside its links and buttons. Its link does the same for the keyboard.
  onRow?: ((row: Row) => void) | undefined;
  minWidth?: number; // scrolls below this width, except on a phone
};

// A click that is neither on a control nor the end of selecting a text.
const isPlainClick = ({ target }: MouseEvent): boolean =>
  !(target as Element).closest('a, button, input, label, [role=menu]') &&
  window.getSelection()?.isCollapsed !== false;

// A table with one item per row. Narrow screens scroll it. On a phone each row is a card that names its columns; the
// ARIA roles keep it a table.
export function DataTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  empty,
  isCurrent,
  onRow,
  minWidth = 480,
}: Props<Row>) {
  if (rows.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {empty}
      </Text>
    );
  const title = columns.find(column => column.isTitle) ?? columns[0];
  return (
    <Table.ScrollContainer
      className="stak-table"
      minWidth={minWidth}
      scrollAreaProps={{
        offsetScrollbars: 'present', // otherwise every table reserves room for a scrollbar
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
            <Table.Tr
              key={keyOf(row)}
              role="row"
              data-current={isCurrent?.(row) || undefined}
              style={onRow && { cursor: 'pointer' }}
              onClick={onRow && (click => isPlainClick(click) && onRow(row))}
            >
              {columns.map(column => (
                <Table.Td
                  key={column.label}
                  role="cell"
                  data-column={column.label}
                  data-title={column === title || undefined}
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
