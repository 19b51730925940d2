import { Button, Card, Checkbox, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { complain } from '../../components/feedback/complaint.ts';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { submitHandler } from '../../components/submit-handler.ts';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { useMay } from '../../queries/permissions.ts';
import { formatDay } from '../../text/days.ts';
import { dayFormat } from './month-grid.tsx';
import { parseQuickTask } from './quick-task.ts';
import { TaskMarks, TaskTitle } from './task-card.tsx';
import { type Task, taskMutationKey, useTaskActions } from './task-queries.ts';

type Props = { day: string; tasks: readonly Task[]; onOpen: (task: Task) => void };

// The selected day: its tasks, and a form to add one.
export function DayPanel({ day, tasks, onOpen }: Props) {
  const { update } = useTaskActions();
  const may = useMay();
  const name = formatDay(day, dayFormat);
  return (
    <Card withBorder component="section" aria-label={name}>
      <Title order={3} size="h5" mb="sm">
        {name}
      </Title>
      <Stack gap="sm">
        {tasks.map(task => (
          <Group key={task.task_id} wrap="nowrap" align="start" gap="sm">
            <Checkbox
              mt={2}
              aria-label={`${task.title} is done`}
              checked={task.status === 'completed'}
              disabled={!may('tasks.update')}
              onChange={event =>
                update({
                  task_id: task.task_id,
                  status: event.currentTarget.checked ? 'completed' : 'pending',
                })
              }
            />
            <Stack gap={2} miw={0}>
              <TaskTitle task={task} isStruck={task.status === 'completed'} onOpen={onOpen} />
              <TaskMarks task={task} />
            </Stack>
          </Group>
        ))}
        {tasks.length === 0 && (
          <Text size="sm" c="dimmed">
            Nothing is due on this day.
          </Text>
        )}
        <Permitted to="tasks.create">
          <AddOn key={day} day={day} />
        </Permitted>
      </Stack>
    </Card>
  );
}

function AddOn({ day }: { day: string }) {
  const { showAnswer } = useTaskActions();
  const [text, setText] = useState('');
  const add = useSubmit(
    (line: string) => client.tasks.create({ body: { ...parseQuickTask(line), due_date: day } }),
    {
      mutationKey: taskMutationKey,
      onSuccess: ({ data }) => showAnswer('add', data),
      onError: (error, line) => {
        setText(now => now || line);
        complain(error);
      },
    },
  );
  const submit = submitHandler(() => {
    if (parseQuickTask(text).title === '') return;
    add.mutate(text);
    setText('');
  });
  return (
    <form onSubmit={submit}>
      <Group gap="xs" wrap="nowrap">
        <TextInput
          aria-label="New task on this day"
          placeholder="New task"
          value={text}
          onChange={event => setText(event.currentTarget.value)}
          flex={1}
        />
        <Button type="submit" variant="default" px="xs" aria-label="Add">
          <IconPlus size={16} />
        </Button>
      </Group>
    </form>
  );
}
