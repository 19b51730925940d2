import { Table, VisuallyHidden } from '@mantine/core';
import type { MouseEvent, ReactNode, Ref } from 'react';

// These are the parts of a table of any length. On a phone each row is a card that names its columns; the ARIA roles keep it a
// table.

export type Column<Row> = {
  label: string;
  show: (row: Row) => ReactNode;
  head?: ReactNode; // instead of the label, such as a checkbox for all rows
  isNumber?: boolean;
  isTitle?: boolean; // of the card on a phone, instead of the first one
};

type FrameProps<Row> = {
  label: string; // what a screen reader calls it
  columns: readonly Column<Row>[];
  minWidth: number; // scrolls below this width, except on a phone
  rowCount?: number; // if not all of them are in the page
  bodyRef?: Ref<HTMLTableSectionElement>;
  children: ReactNode;
};

export const TableFrame = <Row,>({
  label,
  columns,
  minWidth,
  rowCount,
  bodyRef,
  children,
}: FrameProps<Row>) => (
  <Table.ScrollContainer
    className="stak-table"
    minWidth={minWidth}
    scrollAreaProps={{
      offsetScrollbars: 'present', // otherwise every table reserves room for a scrollbar
      viewportProps: { tabIndex: 0, role: 'group', 'aria-label': label },
    }}
  >
    <Table role="table" aria-label={label} aria-rowcount={rowCount} verticalSpacing="xs" highlightOnHover>
      <Table.Thead role="rowgroup">
        <Table.Tr role="row">
          {columns.map(({ label: name, head, isNumber }) => (
            <Table.Th key={name} role="columnheader" ta={isNumber ? 'right' : undefined}>
              {head ?? (name === '' ? <VisuallyHidden>Actions</VisuallyHidden> : name)}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody role="rowgroup" ref={bodyRef}>
        {children}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);

type RowProps<Row> = {
  row: Row;
  columns: readonly Column<Row>[];
  isCurrent: boolean; // its details are open beside the table
  isMarked?: boolean | undefined; // the keys act on it
  // Opens a row that is clicked beside its links and buttons. Its link does the same for the keyboard.
  onRow?: ((row: Row) => void) | undefined;
  index?: number; // if not all rows are in the page
  measure?: Ref<HTMLTableRowElement>;
};

// A click that is neither on a control nor the end of selecting a text.
const isPlainClick = ({ target }: MouseEvent): boolean =>
  !(target as Element).closest('a, button, input, label, [role=menu]') &&
  window.getSelection()?.isCollapsed !== false;

export function TableRow<Row>({ row, columns, isCurrent, isMarked, onRow, index, measure }: RowProps<Row>) {
  const title = columns.find(column => column.isTitle) ?? columns[0];
  return (
    <Table.Tr
      ref={measure}
      role="row"
      data-index={index}
      aria-rowindex={index === undefined ? undefined : index + 2} // the head is the first
      data-current={isCurrent || undefined}
      data-marked={isMarked || undefined}
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
  );
}
