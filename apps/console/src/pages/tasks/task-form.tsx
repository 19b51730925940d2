import { Button, Group, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Failure } from '../../components/failure.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PermittedFields } from '../../components/permitted.tsx';
import { client } from '../../queries/api.ts';
import { columns, type TaskStatus, taskMutationKey, useTaskActions } from './task-queries.ts';

type Priority = 'low' | 'medium' | 'high' | 'urgent';
type Props = { task_id: string; onDone: () => void };

export function TaskForm({ task_id, onDone }: Props) {
  const { showAnswer, remove } = useTaskActions();
  const read = useQuery({
    queryKey: ['task', task_id],
    queryFn: () => client.tasks.get({ task_id }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY, // what is being typed stays
  });
  const [priority, setPriority] = useState<Priority | null>();
  const [status, setStatus] = useState<TaskStatus>();
  const save = useMutation({
    mutationKey: taskMutationKey,
    mutationFn: async (form: FormData) => {
      const text = (name: string) => String(form.get(name) ?? '').trim();
      const body = {
        title: text('title'),
        description: text('description') || null,
        category: text('category') || null,
        due_date: text('due') || null,
        ...(priority !== undefined && { priority }),
        ...(status !== undefined && { status }),
      };
      // Somebody else's change in between is reported, not overwritten.
      return client.tasks.update({ task_id, body }, { ifMatch: read.data?.etag ?? '*' });
    },
    onSuccess: ({ data }) => {
      onDone();
      return showAnswer('update', data);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save.mutate(new FormData(event.currentTarget));
  };
  return (
    <Loaded query={read}>
      {({ data: task }) => (
        <form onSubmit={submit}>
          <PermittedFields to="tasks.update">
            <Stack>
              {save.error && <Failure error={save.error} />}
              <TextInput name="title" label="Title" required maxLength={500} defaultValue={task.title} />
              <Textarea
                name="description"
                label="Description"
                autosize
                minRows={3}
                maxLength={10_000}
                defaultValue={task.description}
              />
              <Group grow>
                <TextInput name="due" type="date" label="Due" defaultValue={task.due_date} />
                <TextInput name="category" label="Category" maxLength={64} defaultValue={task.category} />
              </Group>
              <Group grow>
                <Select
                  label="Status"
                  data={columns.map(column => ({ value: column.status, label: column.label }))}
                  allowDeselect={false}
                  value={status ?? task.status}
                  onChange={value => setStatus(value as TaskStatus)}
                />
                <Select
                  label="Priority"
                  placeholder="None"
                  clearable
                  clearButtonProps={{ 'aria-label': 'No priority' }}
                  data={['low', 'medium', 'high', 'urgent']}
                  value={priority === undefined ? (task.priority ?? null) : priority}
                  onChange={value => setPriority(value as Priority | null)}
                />
              </Group>
              <Group justify="space-between">
                <Button
                  variant="default"
                  onClick={() => {
                    remove(task_id);
                    onDone();
                  }}
                >
                  Move to the trash
                </Button>
                <Button type="submit" loading={save.isPending}>
                  Save
                </Button>
              </Group>
            </Stack>
          </PermittedFields>
        </form>
      )}
    </Loaded>
  );
}
