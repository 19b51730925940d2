import { useDraggable, useDroppable } from '@dnd-kit/core';
import { ActionIcon, Card, Group, Stack } from '@mantine/core';
import { IconGripVertical } from '@tabler/icons-react';
import { useMay } from '../../queries/permissions.ts';
import type { DropData } from './board-sensors.ts';
import { DueDate, TaskMarks, TaskTitle } from './task-card.tsx';
import type { Task } from './task-queries.ts';

type Props = { task: Task; isOrdered: boolean; onOpen: (task: Task) => void };

export function BoardCard({ task, isOrdered, onOpen }: Props) {
  const { task_id: id, status, title } = task;
  const data: DropData = { kind: 'card', status };
  const droppable = useDroppable({ id, data, disabled: !isOrdered });
  const isFixed = !useMay()('tasks.move');
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, isDragging } = useDraggable({
    id,
    disabled: isFixed,
  });
  // A pointer drags the whole card; the keyboard uses its handle, which is a button.
  const { onKeyDown, ...pointers } = listeners ?? {};
  return (
    <div
      ref={droppable.setNodeRef}
      className="stak-place"
      data-before={(droppable.isOver && !isDragging) || undefined}
    >
      <Card ref={setNodeRef} withBorder padding="xs" opacity={isDragging ? 0.4 : 1} {...pointers}>
        <Group wrap="nowrap" gap={6} align="start">
          {!isFixed && (
            <ActionIcon
              ref={setActivatorNodeRef}
              variant="subtle"
              color="gray"
              size="sm"
              {...attributes}
              aria-label={`Move ${title}`}
              onKeyDown={onKeyDown as React.KeyboardEventHandler}
            >
              <IconGripVertical size={14} />
            </ActionIcon>
          )}
          <Stack gap={4} miw={0}>
            <TaskTitle task={task} onOpen={onOpen} />
            <TaskMarks task={task} />
            <DueDate task={task} />
          </Stack>
        </Group>
      </Card>
    </div>
  );
}
