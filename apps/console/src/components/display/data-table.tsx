import { Text } from '@mantine/core';
import { type Column, TableFrame, TableRow } from './table-frame.tsx';

type Props<Row> = {
  label: string; // what a screen reader calls it
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty: string; // what to do if there are no rows
  isCurrent?: (row: Row) => boolean;
  onRow?: ((row: Row) => void) | undefined;
  minWidth?: number;
};

// A table with one item per row. Narrow screens scroll it.
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
  return (
    <TableFrame label={label} columns={columns} minWidth={minWidth}>
      {rows.map(row => (
        <TableRow
          key={keyOf(row)}
          row={row}
          columns={columns}
          isCurrent={isCurrent?.(row) ?? false}
          onRow={onRow}
        />
      ))}
    </TableFrame>
  );
}
