import { Anchor, Badge, Group, Text } from '@mantine/core';
import { withCapital } from '../../text/capital.ts';
import { formatDay } from '../../text/days.ts';
import type { Task } from './task-queries.ts';
import { useToday } from './today.ts';

export const priorityColors = { low: 'gray', medium: 'blue', high: 'orange', urgent: 'red' };
export const statusColors = { pending: 'blue', in_progress: 'orange', completed: 'teal', cancelled: 'gray' };
const dayFormat = { weekday: 'short', month: 'short', day: 'numeric' } as const;
const dayOfYearFormat = { ...dayFormat, year: 'numeric' } as const;

export const isLate = ({ due_date, status }: Task, today: string): boolean =>
  due_date !== undefined && due_date < today && status !== 'completed' && status !== 'cancelled';

// A due date is a day on the calendar, the same in every zone.
export function DueDate({ task }: { task: Task }) {
  const today = useToday();
  const { due_date } = task;
  if (due_date === undefined) return null;
  const late = isLate(task, today);
  const isThisYear = due_date.slice(0, 4) === today.slice(0, 4);
  const label = due_date === today ? 'Today' : formatDay(due_date, isThisYear ? dayFormat : dayOfYearFormat);
  return (
    <Text span size="xs" c={late ? 'red' : 'dimmed'} fw={late ? 600 : undefined}>
      {late ? `Late: ${label}` : label}
    </Text>
  );
}

type TitleProps = { task: Task; isStruck?: boolean; onOpen: (task: Task) => void };

export const TaskTitle = ({ task, isStruck = false, onOpen }: TitleProps) => (
  <Anchor
    component="button"
    type="button"
    size="sm"
    ta="left"
    c="inherit"
    fw={500}
    className="stak-break"
    td={isStruck ? 'line-through' : undefined}
    onClick={() => onOpen(task)}
  >
    {task.title}
  </Anchor>
);

export function TaskMarks({ task }: { task: Task }) {
  const { priority, category, labels = [] } = task;
  return (
    <Group gap={6}>
      {priority && (
        <Badge size="sm" variant="light" color={priorityColors[priority]}>
          {withCapital(priority)}
        </Badge>
      )}
      {category !== undefined && (
        <Badge size="sm" variant="default">
          {category}
        </Badge>
      )}
      {labels.map(label => (
        <Text span size="xs" c="dimmed" key={label}>
          @{label}
        </Text>
      ))}
    </Group>
  );
}
