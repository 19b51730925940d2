import { Anchor, Button, Card, Checkbox, Text } from '@mantine/core';
import { DataTable } from '../../data-table.tsx';
import { DueDate, TaskMarks } from './task-card.tsx';
import { columns, type Task, type TaskStatus } from './task-queries.ts';

type Props = {
  tasks: readonly Task[];
  empty: string;
  onMove: (task: Task, status: TaskStatus) => void;
  onOpen: (task: Task) => void;
  onRemove: (task: Task) => void;
};

export function TaskList({ tasks, empty, onMove, onOpen, onRemove }: Props) {
  return (
    <Card withBorder>
      <DataTable
        label="Tasks"
        rows={tasks}
        keyOf={task => task.task_id}
        empty={empty}
        columns={[
          {
            label: 'Done',
            show: task => (
              <Checkbox
                aria-label={`${task.title} is done`}
                checked={task.status === 'completed'}
                onChange={event => onMove(task, event.currentTarget.checked ? 'completed' : 'pending')}
              />
            ),
          },
          {
            label: 'Task',
            show: task => (
              <Anchor
                component="button"
                type="button"
                size="sm"
                ta="left"
                c="inherit"
                fw={500}
                td={task.status === 'completed' ? 'line-through' : undefined}
                onClick={() => onOpen(task)}
              >
                {task.title}
              </Anchor>
            ),
          },
          {
            label: 'Status',
            show: task => (
              <Text size="sm" className="stak-nowrap">
                {columns.find(({ status }) => status === task.status)?.label}
              </Text>
            ),
          },
          { label: 'Marks', show: task => <TaskMarks task={task} /> },
          { label: 'Due', show: task => <DueDate task={task} /> },
          {
            label: '',
            show: task => (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`Delete ${task.title}`}
                onClick={() => onRemove(task)}
              >
                Delete
              </Button>
            ),
          },
        ]}
      />
    </Card>
  );
}
