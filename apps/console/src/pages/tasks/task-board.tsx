import { type Announcements, DndContext, type DragEndEvent, DragOverlay } from '@dnd-kit/core';
import { Card, SimpleGrid, Text } from '@mantine/core';
import { useState } from 'react';
import { BoardColumn, type ColumnTasks } from './board-column.tsx';
import { type Drop, dropAt, dropBack } from './board-drop.ts';
import { findDrop, useBoardSensors } from './board-sensors.ts';
import { columns, type Task, type TaskStatus } from './task-queries.ts';

type Props = {
  byStatus: Readonly<Record<TaskStatus, ColumnTasks>>;
  isOrdered: boolean; // in the user's own order
  onDrop: (drop: Drop, back: Drop) => void;
  onOpen: (task: Task) => void;
};

const instructions = {
  draggable:
    'Press space to pick up the task, left and right to change its column, up and down to change its place, space to drop it.',
};

export function TaskBoard({ byStatus, isOrdered, onDrop, onOpen }: Props) {
  const [heldId, setHeldId] = useState<string>();
  const sensors = useBoardSensors();
  const tasks = columns.flatMap(({ status }) => byStatus[status].tasks);
  const find = (id: unknown) => tasks.find(task => task.task_id === id);
  const letGo = ({ active, over }: DragEndEvent) => {
    setHeldId(undefined);
    const task = find(active.id);
    const drop = task && over && dropAt(tasks, task, String(over.id), isOrdered);
    if (drop) onDrop(drop, dropBack(tasks, drop, isOrdered));
  };
  const sayDrop = (movedId: unknown, overId: unknown): string => {
    const column = columns.find(({ status }) => status === (find(overId)?.status ?? overId));
    if (column === undefined) return 'no column';
    if (!isOrdered) return column.label;
    const { tasks: all, total = all.length } = byStatus[column.status];
    const others = all.filter(one => one.task_id !== movedId);
    const at = others.findIndex(one => one.task_id === overId);
    const positions = Math.max(total, all.length) - (all.length - others.length) + 1;
    return `${column.label}, place ${at === -1 ? others.length + 1 : at + 1} of ${positions}`;
  };
  const announcements: Announcements = {
    onDragStart: ({ active }) => `Picked up ${find(active.id)?.title}.`,
    onDragOver: ({ active, over }) => `Over ${sayDrop(active.id, over?.id)}.`,
    onDragEnd: ({ active, over }) => `${find(active.id)?.title} is in ${sayDrop(active.id, over?.id)}.`,
    onDragCancel: ({ active }) => `${find(active.id)?.title} stays where it was.`,
  };
  const held = find(heldId);
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={findDrop}
      accessibility={{ announcements, screenReaderInstructions: instructions }}
      onDragStart={({ active }) => setHeldId(String(active.id))}
      onDragCancel={() => setHeldId(undefined)}
      onDragEnd={letGo}
    >
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm">
        {columns.map(({ status, label }) => (
          <BoardColumn
            key={status}
            status={status}
            label={label}
            column={byStatus[status]}
            isOrdered={isOrdered}
            heldId={held && heldId}
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
