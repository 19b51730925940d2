import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react';
import { type Column, TableFrame, TableRow } from './table-frame.tsx';

export type LongTableHandle = { show: (index: number) => void };

type Props<Row> = {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  isCurrent: (row: Row) => boolean;
  isMarked: (row: Row) => boolean;
  onRow: (row: Row) => void;
  minWidth: number;
  onEnd: (() => void) | undefined; // loads more rows; undefined if there are none, or they are loading
  handle: Ref<LongTableHandle>;
};

const rowPx = 42; // until a row is measured
const aheadRows = 20; // distance from the end at which more are loaded

// A table of any length: only the rows near the window are in the page.
export function LongTable<Row>({
  rows,
  keyOf,
  columns,
  isCurrent,
  isMarked,
  onRow,
  onEnd,
  handle,
  ...frame
}: Props<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  useLayoutEffect(() => {
    const top = body.current?.getBoundingClientRect().top;
    if (top !== undefined) setScrollMargin(top + window.scrollY);
  }, []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowPx,
    getItemKey: index => keyOf(rows[index]!),
    overscan: 12,
    scrollMargin,
  });
  useImperativeHandle(handle, () => ({ show: index => virtual.scrollToIndex(index) }), [virtual]);
  const shown = virtual.getVirtualItems();
  const isNearEnd = (shown.at(-1)?.index ?? 0) >= rows.length - aheadRows;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, onEnd]);
  const above = (shown[0]?.start ?? scrollMargin) - scrollMargin;
  const below = virtual.getTotalSize() + scrollMargin - (shown.at(-1)?.end ?? scrollMargin);
  return (
    <TableFrame {...frame} columns={columns} bodyRef={body} rowCount={rows.length + 1}>
      <Spacer height={above} />
      {shown.map(({ index, key }) => {
        const row = rows[index]!;
        return (
          <TableRow
            key={key}
            row={row}
            columns={columns}
            isCurrent={isCurrent(row)}
            isMarked={isMarked(row)}
            onRow={onRow}
            index={index}
            measure={virtual.measureElement}
          />
        );
      })}
      <Spacer height={below} />
    </TableFrame>
  );
}

// Takes the place of the rows that are not in the page.
const Spacer = ({ height }: { height: number }) =>
  height > 0 && <tr aria-hidden className="stak-spacer" style={{ height }} />;
