import { useDroppable } from '@dnd-kit/core';
import { Badge, Group, Text } from '@mantine/core';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef } from 'react';
import { useMay } from '../../queries/permissions.ts';
import { formatNumber } from '../../text/format.ts';
import { BoardCard } from './board-card.tsx';
import type { DropData } from './board-sensors.ts';
import type { Task, TaskStatus } from './task-queries.ts';

export type ColumnTasks = {
  tasks: readonly Task[]; // those loaded so far
  total: number | undefined; // undefined if they are not counted
  hasMore: boolean;
  isLoading: boolean;
  loadMore: () => void;
};

type Props = {
  status: TaskStatus;
  label: string;
  column: ColumnTasks;
  isOrdered: boolean;
  heldId: string | undefined;
  onOpen: (task: Task) => void;
};

const cardPx = 76; // until a card is measured
const gapPx = 10;
const aheadCards = 20; // distance from the end at which the next page is loaded

// Renders only the visible cards, and loads more while scrolling.
export function BoardColumn({ status, label, column, isOrdered, heldId, onOpen }: Props) {
  const { tasks, hasMore, isLoading, loadMore } = column;
  const may = useMay();
  const data: DropData = { kind: 'column', status };
  const { setNodeRef, isOver, over } = useDroppable({ id: status, data });
  const isAbove = heldId !== undefined && (over?.data.current as DropData | undefined)?.status === status;
  const scroller = useRef<HTMLDivElement>(null);
  const heldAt = tasks.findIndex(task => task.task_id === heldId);
  // A stable function: a new one on every render would measure all cards again.
  const getItemKey = useCallback((index: number) => tasks[index]!.task_id, [tasks]);
  const cards = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => cardPx,
    getItemKey,
    gap: gapPx,
    paddingStart: 8, // room for the drop mark above the first card
    paddingEnd: 8,
    overscan: 6,
    // The dragged card stays rendered, because unmounting it would end the drag.
    rangeExtractor: range => {
      const shown = defaultRangeExtractor(range);
      return heldAt === -1 || shown.includes(heldAt) ? shown : [...shown, heldAt].sort((a, b) => a - b);
    },
  });
  const shown = cards.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  const isNearEnd = lastShown >= tasks.length - aheadCards;
  useEffect(() => {
    if (isNearEnd && hasMore && !isLoading) loadMore();
  }, [isNearEnd, hasMore, isLoading, loadMore]);
  return (
    <section ref={setNodeRef} aria-label={label} className="stak-column" data-over={isAbove || undefined}>
      <Group justify="space-between" mb="xs">
        <Text fw={600} size="sm">
          {label}
        </Text>
        <Badge variant="default" size="sm" data-testid={`count-${status}`}>
          {column.total === undefined ? `${formatNumber(tasks.length)}+` : formatNumber(column.total)}
        </Badge>
      </Group>
      <div ref={scroller} className="stak-column-cards">
        <div
          className="stak-place"
          style={{ height: tasks.length === 0 ? 0 : cards.getTotalSize() }}
          data-end={(isOrdered && isOver && tasks.length > 0) || undefined}
        >
          {shown.map(({ index, key, start }) => (
            <div
              key={key}
              ref={cards.measureElement}
              data-index={index}
              className="stak-column-card"
              style={{ transform: `translateY(${start}px)` }}
            >
              <BoardCard task={tasks[index]!} isOrdered={isOrdered} onOpen={onOpen} />
            </div>
          ))}
        </div>
        {tasks.length === 0 && (
          <Text size="sm" c="dimmed">
            {isLoading ? 'Loading…' : `No tasks.${may('tasks.move') ? ' Drop one here to move it.' : ''}`}
          </Text>
        )}
      </div>
    </section>
  );
}
