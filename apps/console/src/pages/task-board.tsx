import {
  type Announcements,
  DndContext,
  type DragEndEvent,
  DragOverlay,
  type KeyboardCoordinateGetter,
  KeyboardSensor,
  MouseSensor,
  TouchSensor,
  useDraggable,
  useDroppable,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import { ActionIcon, Anchor, Badge, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconGripVertical } from '@tabler/icons-react';
import { useState } from 'react';
import { DueDate, TaskMarks } from './task-card.tsx';
import { columns, type Task, type TaskStatus } from './task-queries.ts';

type Props = {
  tasks: readonly Task[];
  onMove: (task: Task, status: TaskStatus) => void;
  onOpen: (task: Task) => void;
};

// With the arrow keys a card jumps from column to column.
const toNextColumn: KeyboardCoordinateGetter = (event, { currentCoordinates, context }) => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.code];
  if (step === undefined) return undefined;
  event.preventDefault();
  const from = columns.findIndex(({ status }) => status === context.over?.id);
  const next = columns[Math.min(columns.length - 1, Math.max(0, from + step))]!;
  const place = context.droppableRects.get(next.status);
  return place ? { x: place.left + 8, y: place.top + 48 } : currentCoordinates;
};

const labelOf = (status: unknown): string =>
  columns.find(column => column.status === status)?.label ?? 'no column';

export function TaskBoard({ tasks, onMove, onOpen }: Props) {
  const [heldId, setHeldId] = useState<string>();
  const sensors = useSensors(
    useSensor(MouseSensor, { activationConstraint: { distance: 6 } }),
    useSensor(TouchSensor, { activationConstraint: { delay: 200, tolerance: 8 } }), // a swipe scrolls
    useSensor(KeyboardSensor, { coordinateGetter: toNextColumn }),
  );
  const find = (id: unknown) => tasks.find(one => one.task_id === id);
  const drop = ({ active, over }: DragEndEvent) => {
    setHeldId(undefined);
    const task = find(active.id);
    const status = over?.id as TaskStatus | undefined;
    if (task && status && status !== task.status) onMove(task, status);
  };
  const announcements: Announcements = {
    onDragStart: ({ active }) => `Picked up ${find(active.id)?.title}.`,
    onDragOver: ({ over }) => `Over ${labelOf(over?.id)}.`,
    onDragEnd: ({ active, over }) => `${find(active.id)?.title} is in ${labelOf(over?.id)}.`,
    onDragCancel: ({ active }) => `${find(active.id)?.title} stays where it was.`,
  };
  const held = find(heldId);
  return (
    <DndContext
      sensors={sensors}
      accessibility={{
        announcements,
        screenReaderInstructions: {
          draggable:
            'Press space to pick up the task, the arrow keys to change its column, space to drop it.',
        },
      }}
      onDragStart={({ active }) => setHeldId(String(active.id))}
      onDragCancel={() => setHeldId(undefined)}
      onDragEnd={drop}
    >
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm">
        {columns.map(column => (
          <Column
            key={column.status}
            {...column}
            tasks={tasks.filter(task => task.status === column.status)}
            onOpen={onOpen}
          />
        ))}
      </SimpleGrid>
      <DragOverlay>
        {held && (
          <Card withBorder padding="xs" shadow="md">
            <Text size="sm" fw={500}>
              {held.title}
            </Text>
          </Card>
        )}
      </DragOverlay>
    </DndContext>
  );
}

type ColumnProps = {
  status: TaskStatus;
  label: string;
  tasks: readonly Task[];
  onOpen: Props['onOpen'];
};

function Column({ status, label, tasks, onOpen }: ColumnProps) {
  const { setNodeRef, isOver } = useDroppable({ id: status });
  return (
    <section ref={setNodeRef} aria-label={label} className="stak-column" data-over={isOver || undefined}>
      <Group justify="space-between" mb="xs">
        <Text fw={600} size="sm">
          {label}
        </Text>
        <Badge variant="default" size="sm">
          {tasks.length}
        </Badge>
      </Group>
      <Stack gap="xs">
        {tasks.map(task => (
          <BoardCard key={task.task_id} task={task} onOpen={onOpen} />
        ))}
        {tasks.length === 0 && (
          <Text size="sm" c="dimmed">
            Nothing here. Drop a task to move it.
          </Text>
        )}
      </Stack>
    </section>
  );
}

function BoardCard({ task, onOpen }: { task: Task; onOpen: Props['onOpen'] }) {
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, isDragging } = useDraggable({
    id: task.task_id,
  });
  // The whole card is dragged by a pointer; keys work on its handle, which is a button.
  const { onKeyDown, ...pointers } = listeners ?? {};
  return (
    <Card ref={setNodeRef} withBorder padding="xs" opacity={isDragging ? 0.4 : 1} {...pointers}>
      <Group wrap="nowrap" gap={6} align="start">
        <ActionIcon
          ref={setActivatorNodeRef}
          variant="subtle"
          color="gray"
          size="sm"
          {...attributes}
          aria-label={`Move ${task.title}`}
          onKeyDown={onKeyDown as React.KeyboardEventHandler}
        >
          <IconGripVertical size={14} />
        </ActionIcon>
        <Stack gap={4} miw={0}>
          <Anchor
            component="button"
            type="button"
            size="sm"
            ta="left"
            c="inherit"
            fw={500}
            className="stak-break"
            onClick={() => onOpen(task)}
          >
            {task.title}
          </Anchor>
          <TaskMarks task={task} />
          <DueDate task={task} />
        </Stack>
      </Group>
    </Card>
  );
}
