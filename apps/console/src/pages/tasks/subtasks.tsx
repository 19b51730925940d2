import { Button, Checkbox, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { useAction } from '../../queries/actions.ts';
import { useAnswer, useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { useMay } from '../../queries/permissions.ts';
import { DueDate, TaskTitle } from './task-card.tsx';
import { taskMutationKey, useTaskActions } from './task-queries.ts';

type Props = {
  task_id: string;
  onOpen: (task_id: string) => void;
  onAdded: () => Promise<void>; // adding a subtask changes the version of the task
};

export function Subtasks({ task_id, onOpen, onAdded }: Props) {
  const { update } = useTaskActions();
  const may = useMay();
  const subtasks = useRows(['tasks', 'subtasks', task_id], () => client.tasks.subtasks({ task_id }));
  return (
    <section aria-label="Subtasks">
      <Loaded query={subtasks}>
        {all => (
          <Stack gap="xs">
            <Group gap="xs">
              <Title order={3} size="h5">
                Subtasks
              </Title>
              {all.length > 0 && (
                <Text span size="sm" c="dimmed">
                  {all.filter(one => one.status === 'completed').length} of {all.length} done
                </Text>
              )}
            </Group>
            {all.map(one => (
              <Group key={one.task_id} gap="sm" wrap="nowrap">
                <Checkbox
                  aria-label={`${one.title} is done`}
                  checked={one.status === 'completed'}
                  disabled={!may('tasks.update')}
                  onChange={event =>
                    update({
                      task_id: one.task_id,
                      status: event.currentTarget.checked ? 'completed' : 'pending',
                    })
                  }
                />
                <TaskTitle
                  task={one}
                  isStruck={one.status === 'completed'}
                  onOpen={() => onOpen(one.task_id)}
                />
                <DueDate task={one} />
              </Group>
            ))}
            <Permitted to="tasks.create">
              <NewSubtask parent_id={task_id} onAdded={onAdded} />
            </Permitted>
          </Stack>
        )}
      </Loaded>
    </section>
  );
}

function NewSubtask({ parent_id, onAdded }: { parent_id: string; onAdded: () => Promise<void> }) {
  const { showAnswer } = useTaskActions();
  const [title, setTitle] = useState('');
  const add = useAction(() => client.tasks.create({ body: { title: title.trim(), parent_id } }), {
    mutationKey: taskMutationKey,
    onSuccess: async ({ data }) => {
      setTitle('');
      await onAdded();
      await showAnswer('add', data);
    },
  });
  const submit = submitHandler(() => {
    if (title.trim() !== '' && !add.isPending) add.mutate();
  });
  return (
    <form onSubmit={submit}>
      <Group gap="xs" wrap="nowrap">
        <TextInput
          aria-label="New subtask"
          placeholder="New subtask"
          maxLength={500}
          value={title}
          onChange={event => setTitle(event.currentTarget.value)}
          flex={1}
        />
        <Button type="submit" variant="default" px="xs" aria-label="Add subtask" loading={add.isPending}>
          <IconPlus size={16} />
        </Button>
      </Group>
    </form>
  );
}

/** A link to the task that a subtask belongs to. */
export function ParentTask({ task_id, onOpen }: { task_id: string; onOpen: (task_id: string) => void }) {
  const parent = useAnswer(['tasks', 'parent', task_id], () => client.tasks.get({ task_id }));
  if (!parent.data) return null;
  return (
    <Group gap={6}>
      <Text span size="sm" c="dimmed">
        Part of
      </Text>
      <TaskTitle task={parent.data} onOpen={() => onOpen(task_id)} />
    </Group>
  );
}
