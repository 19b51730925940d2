import { ActionIcon, Card, Checkbox, Group, Stack, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { useMay } from '../../queries/permissions.ts';
import { DueDate, TaskMarks, TaskTitle } from './task-card.tsx';
import { columns, type Task, type TaskStatus } from './task-queries.ts';

type Actions = {
  onMove: (task: Task, status: TaskStatus) => void;
  onOpen: (task: Task) => void;
  onRemove: (task: Task) => void;
};

type Props = Actions & {
  tasks: readonly Task[];
  empty: string;
  hasMore: boolean;
  isLoading: boolean;
  onMore: () => void;
};

const linePx = 58; // until a line is measured
const aheadLines = 20; // distance from the end at which the next page is loaded

// Renders only the visible lines, and loads more while scrolling.
export function TaskList({ tasks, empty, hasMore, isLoading, onMore, ...actions }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  useLayoutEffect(() => {
    const box = list.current?.getBoundingClientRect();
    if (box) setScrollMargin(box.top + window.scrollY);
  }, []);
  const lines = useWindowVirtualizer({
    count: tasks.length,
    estimateSize: () => linePx,
    getItemKey: index => tasks[index]!.task_id,
    overscan: 10,
    scrollMargin,
  });
  const shown = lines.getVirtualItems();
  const isNearEnd = (shown.at(-1)?.index ?? 0) >= tasks.length - aheadLines;
  useEffect(() => {
    if (isNearEnd && hasMore && !isLoading) onMore();
  }, [isNearEnd, hasMore, isLoading, onMore]);
  if (tasks.length === 0) return <Text c="dimmed">{empty}</Text>;
  return (
    <div ref={list}>
      <Card
        withBorder
        padding={0}
        component="ul"
        aria-label="Tasks"
        className="stak-list"
        style={{ height: lines.getTotalSize() + 2 }}
      >
        {shown.map(({ index, key, start }) => (
          <li
            key={key}
            ref={lines.measureElement}
            data-index={index}
            aria-setsize={hasMore ? -1 : tasks.length}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start - scrollMargin}px)` }}
          >
            <TaskLine task={tasks[index]!} {...actions} />
          </li>
        ))}
      </Card>
    </div>
  );
}

// The title is above the details, so that both fit on a phone.
function TaskLine({ task, onMove, onOpen, onRemove }: Actions & { task: Task }) {
  const isDone = task.status === 'completed';
  const may = useMay();
  return (
    <Group wrap="nowrap" gap="sm" px="md" py="xs">
      <Checkbox
        aria-label={`${task.title} is done`}
        checked={isDone}
        disabled={!may('tasks.update')}
        onChange={event => onMove(task, event.currentTarget.checked ? 'completed' : 'pending')}
      />
      <Stack gap={2} miw={0} flex={1}>
        <TaskTitle task={task} isStruck={isDone} onOpen={onOpen} />
        <Group gap="xs">
          <TaskMarks task={task} />
          <DueDate task={task} />
        </Group>
      </Stack>
      <Text size="sm" c="dimmed" className="stak-nowrap" visibleFrom="xs">
        {columns.find(({ status }) => status === task.status)?.label}
      </Text>
      <Permitted to="tasks.delete">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Delete ${task.title}`}
          onClick={() => onRemove(task)}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </Permitted>
    </Group>
  );
}
