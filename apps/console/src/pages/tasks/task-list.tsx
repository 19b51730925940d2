import { ActionIcon, Card, Checkbox, Group, Stack, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { DueDate, TaskMarks, TaskTitle } from './task-card.tsx';
import { columns, type Task, type TaskStatus } from './task-queries.ts';

type Actions = {
  onMove: (task: Task, status: TaskStatus) => void;
  onOpen: (task: Task) => void;
  onRemove: (task: Task) => void;
};

type Props = Actions & { tasks: readonly Task[]; empty: string };

export function TaskList({ tasks, empty, ...actions }: Props) {
  if (tasks.length === 0) return <Text c="dimmed">{empty}</Text>;
  return (
    <Card withBorder padding={0} component="ul" aria-label="Tasks" className="stak-list">
      {tasks.map(task => (
        <TaskLine key={task.task_id} task={task} {...actions} />
      ))}
    </Card>
  );
}

// What it is and what it is about stand below each other, so that a phone has room for both.
function TaskLine({ task, onMove, onOpen, onRemove }: Actions & { task: Task }) {
  const isDone = task.status === 'completed';
  return (
    <Group component="li" wrap="nowrap" gap="sm" px="md" py="xs">
      <Checkbox
        aria-label={`${task.title} is done`}
        checked={isDone}
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
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Delete ${task.title}`}
        onClick={() => onRemove(task)}
      >
        <IconTrash size={16} />
      </ActionIcon>
    </Group>
  );
}
