import { type Announcements, DndContext, type DragEndEvent, DragOverlay, useDroppable } from '@dnd-kit/core';
import { Badge, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { BoardCard } from './board-card.tsx';
import { type Drop, dropAt } from './board-places.ts';
import { findPlace, type PlaceData, useBoardSensors } from './board-sensors.ts';
import { columns, type Task, type TaskStatus } from './task-queries.ts';

type Props = {
  tasks: readonly Task[];
  isOrdered: boolean; // as the user has put them
  onDrop: (drop: Drop) => void;
  onOpen: (task: Task) => void;
};

const instructions = {
  draggable:
    'Press space to pick up the task, left and right to change its column, up and down to change its place, space to drop it.',
};

export function TaskBoard({ tasks, isOrdered, onDrop, onOpen }: Props) {
  const [heldId, setHeldId] = useState<string>();
  const sensors = useBoardSensors();
  const find = (id: unknown) => tasks.find(one => one.task_id === id);
  const letGo = ({ active, over }: DragEndEvent) => {
    setHeldId(undefined);
    const task = find(active.id);
    const drop = task && over && dropAt(tasks, task, String(over.id), isOrdered);
    if (drop) onDrop(drop);
  };
  const sayPlace = (heldId: unknown, overId: unknown): string => {
    const status = find(overId)?.status ?? overId;
    const label = columns.find(column => column.status === status)?.label;
    if (label === undefined) return 'no column';
    if (!isOrdered) return label;
    const column = tasks.filter(one => one.status === status && one.task_id !== heldId);
    const at = column.findIndex(one => one.task_id === overId);
    return `${label}, place ${at === -1 ? column.length + 1 : at + 1} of ${column.length + 1}`;
  };
  const announcements: Announcements = {
    onDragStart: ({ active }) => `Picked up ${find(active.id)?.title}.`,
    onDragOver: ({ active, over }) => `Over ${sayPlace(active.id, over?.id)}.`,
    onDragEnd: ({ active, over }) => `${find(active.id)?.title} is in ${sayPlace(active.id, over?.id)}.`,
    onDragCancel: ({ active }) => `${find(active.id)?.title} stays where it was.`,
  };
  const held = find(heldId);
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={findPlace}
      accessibility={{ announcements, screenReaderInstructions: instructions }}
      onDragStart={({ active }) => setHeldId(String(active.id))}
      onDragCancel={() => setHeldId(undefined)}
      onDragEnd={letGo}
    >
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm">
        {columns.map(column => (
          <Column
            key={column.status}
            {...column}
            tasks={tasks.filter(task => task.status === column.status)}
            isOrdered={isOrdered}
            isHolding={held !== undefined}
            onOpen={onOpen}
          />
        ))}
      </SimpleGrid>
      <DragOverlay>
        {held && (
          <Card withBorder padding="xs" shadow="md" opacity={0.85}>
            <Text size="sm" fw={500} className="stak-break">
              {held.title}
            </Text>
          </Card>
        )}
      </DragOverlay>
    </DndContext>
  );
}

type ColumnProps = Pick<Props, 'tasks' | 'isOrdered' | 'onOpen'> & {
  status: TaskStatus;
  label: string;
  isHolding: boolean;
};

function Column({ status, label, tasks, isOrdered, isHolding, onOpen }: ColumnProps) {
  const data: PlaceData = { kind: 'column', status };
  const { setNodeRef, isOver, over } = useDroppable({ id: status, data });
  const isAbove = isHolding && (over?.data.current as PlaceData | undefined)?.status === status;
  return (
    <section ref={setNodeRef} aria-label={label} className="stak-column" data-over={isAbove || undefined}>
      <Group justify="space-between" mb="xs">
        <Text fw={600} size="sm">
          {label}
        </Text>
        <Badge variant="default" size="sm">
          {tasks.length}
        </Badge>
      </Group>
      <Stack
        gap="xs"
        className="stak-place"
        data-end={(isOrdered && isOver && tasks.length > 0) || undefined}
      >
        {tasks.map(task => (
          <BoardCard key={task.task_id} task={task} isOrdered={isOrdered} onOpen={onOpen} />
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
