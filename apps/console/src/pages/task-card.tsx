import { Badge, Group, Text } from '@mantine/core';
import { localDay } from './quick-task.ts';
import type { Task } from './task-queries.ts';

const priorityColors = { low: 'gray', medium: 'blue', high: 'orange', urgent: 'red' };
const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: 'short', month: 'short', day: 'numeric' });

// A due date is a day on the calendar, the same in every zone.
export function DueDate({ task: { due_date, status } }: { task: Task }) {
  if (due_date === undefined) return null;
  const today = localDay(new Date());
  const isLate = due_date < today && status !== 'completed' && status !== 'cancelled';
  const label = due_date === today ? 'today' : dayFormat.format(new Date(`${due_date}T00:00`));
  return (
    <Text span size="sm" c={isLate ? 'red' : 'dimmed'} fw={isLate ? 600 : undefined}>
      {isLate ? `late: ${label}` : label}
    </Text>
  );
}

export function TaskMarks({ task }: { task: Task }) {
  const { priority, category, labels = [] } = task;
  return (
    <Group gap={6}>
      {priority && (
        <Badge size="sm" tt="none" variant="light" color={priorityColors[priority]}>
          {priority}
        </Badge>
      )}
      {category !== undefined && (
        <Badge size="sm" tt="none" variant="default">
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
