import {
  Button,
  Divider,
  Group,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { fieldComplaints } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted, PermittedFields } from '../../components/feedback/permitted.tsx';
import { CopyLine } from '../../components/fields/copy.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { Why } from '../../components/why/why.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { choicesOf } from '../../text/capital.ts';
import { formatAgo, formatTime } from '../../text/format.ts';
import { ReminderField, RepeatField } from './schedule-fields.tsx';
import { ParentTask, Subtasks } from './subtasks.tsx';
import { TaskActivity } from './task-activity.tsx';
import { draftOf, isUnreadable, patchOf, type TaskDraft, type WholeTask } from './task-draft.ts';
import { columns, taskMutationKey, useTaskActions } from './task-queries.ts';
import { useZone } from './today.ts';

type Props = { task_id: string; onDone: () => void; onOpen: (task_id: string) => void };
type ReadTask = { data: WholeTask; etag?: string };

const taskKey = (task_id: string) => ['task', task_id] as const;

// Everything about a task. The fields are saved together, subtasks one by one.
export function TaskForm({ task_id, onDone, onOpen }: Props) {
  const queries = useQueryClient();
  const read = useQuery<ReadTask>({
    queryKey: taskKey(task_id),
    queryFn: () => client.tasks.get({ task_id }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY, // do not overwrite what is being typed
  });
  // Adopts the version that a new subtask caused. If somebody else changed the task too, saving reports it.
  const takeOwnVersion = async () => {
    const now = await client.tasks.get({ task_id });
    queries.setQueryData<ReadTask>(taskKey(task_id), held =>
      held?.data.version === now.data.version - 1 ? now : held,
    );
  };
  return (
    <Loaded query={read}>
      {({ data: task, etag = '*' }) => (
        <Stack>
          {task.parent_id !== undefined && <ParentTask task_id={task.parent_id} onOpen={onOpen} />}
          <TaskFields task={task} etag={etag} onDone={onDone}>
            {task.parent_id === undefined && (
              <>
                <Divider />
                <Subtasks task_id={task_id} onOpen={onOpen} onAdded={takeOwnVersion} />
              </>
            )}
          </TaskFields>
        </Stack>
      )}
    </Loaded>
  );
}

type FieldsProps = { task: WholeTask; etag: string; onDone: () => void; children: ReactNode };

function TaskFields({ task, etag, onDone, children }: FieldsProps) {
  const { task_id } = task;
  const { showAnswer, remove } = useTaskActions();
  const { zone } = useZone();
  const formId = useId();
  const [draft, setDraft] = useState(() => draftOf(task));
  const [isSent, setIsSent] = useState(false);
  const edit = (part: Partial<TaskDraft>) => setDraft(old => ({ ...old, ...part }));
  const save = useSubmit(
    // Somebody else's change in between is reported, not overwritten.
    () => client.tasks.update({ task_id, body: patchOf(task, draft) }, { ifMatch: etag }),
    {
      mutationKey: taskMutationKey,
      onSuccess: ({ data }) => {
        onDone();
        return showAnswer('update', data);
      },
    },
  );
  const complaints = fieldComplaints(save.error);
  const unreadable =
    isSent && isUnreadable(task, draft)
      ? 'Write “every monday”, or a rule such as FREQ=MONTHLY;BYDAY=-1FR.'
      : undefined;
  const submit = submitHandler(() => {
    setIsSent(true);
    if (!isUnreadable(task, draft)) save.mutate();
  });
  return (
    <>
      <form onSubmit={submit} id={formId}>
        <PermittedFields to="tasks.update">
          <Stack>
            {save.error && <Failure error={save.error} />}
            <TextInput
              label="Title"
              required
              maxLength={500}
              value={draft.title}
              onChange={event => edit({ title: event.currentTarget.value })}
            />
            <Textarea
              label="Description"
              autosize
              minRows={3}
              maxRows={16}
              maxLength={10_000}
              value={draft.description}
              onChange={event => edit({ description: event.currentTarget.value })}
            />
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <Select
                label="Status"
                data={columns.map(column => ({ value: column.status, label: column.label }))}
                allowDeselect={false}
                value={draft.status}
                onChange={value => edit({ status: value as TaskDraft['status'] })}
              />
              <Select
                label="Priority"
                placeholder="None"
                clearable
                clearButtonProps={{ 'aria-label': 'No priority' }}
                data={choicesOf(['low', 'medium', 'high', 'urgent'])}
                value={draft.priority ?? null}
                onChange={value => edit({ priority: value as TaskDraft['priority'] })}
              />
              <TextInput
                label="Category"
                maxLength={64}
                value={draft.category}
                error={complaints.category}
                onChange={event => edit({ category: event.currentTarget.value })}
              />
              <TagsInput
                label="Labels"
                placeholder={draft.labels.length === 0 ? 'Press Enter after each' : undefined}
                maxTags={20}
                value={draft.labels}
                error={complaints.labels}
                onChange={labels => edit({ labels })}
                acceptValueOnBlur
                clearable
                clearButtonProps={{ 'aria-label': 'Remove all labels' }}
              />
              <TextInput
                type="date"
                label="Due"
                description="A day, the same in every time zone"
                value={draft.due}
                error={complaints.due_date}
                onChange={event => edit({ due: event.currentTarget.value })}
              />
              <RepeatField
                value={draft.repeats}
                error={unreadable ?? complaints.recurrence}
                onChange={repeats => edit({ repeats })}
              />
            </SimpleGrid>
            <ReminderField
              value={draft.reminder}
              zone={zone}
              error={complaints.reminder}
              onChange={reminder => edit({ reminder })}
            />
          </Stack>
        </PermittedFields>
      </form>
      {children}
      <Divider />
      <Permitted to="lake.history">
        <TaskActivity task_id={task_id} />
      </Permitted>
      <Why key={task_id} id={task_id} about="this task" />
      <Divider />
      <Group justify="space-between" gap="xs">
        <TaskTimes task={task} />
        <CopyLine value={window.location.href} label="Copy link" />
      </Group>
      <Group justify="space-between" className="stak-foot">
        <Permitted to="tasks.delete" otherwise={<span />}>
          <Button
            variant="default"
            onClick={() => {
              remove(task_id);
              onDone();
            }}
          >
            Move to the trash
          </Button>
        </Permitted>
        <Permitted to="tasks.update">
          <Button type="submit" form={formId} loading={save.isPending}>
            Save
          </Button>
        </Permitted>
      </Group>
    </>
  );
}

function TaskTimes({ task: { created_at, updated_at, completed_at } }: { task: WholeTask }) {
  const times = [
    ['Created', created_at],
    ['changed', updated_at === created_at ? null : updated_at],
    ['done', completed_at],
  ] as const;
  return (
    <Text size="sm" c="dimmed">
      {times
        .flatMap(([word, seconds]) => (seconds === null ? [] : [{ word, ms: seconds * 1000 }]))
        .map(({ word, ms }, index) => (
          <span key={word}>
            {index > 0 && ', '}
            {word}{' '}
            <time dateTime={new Date(ms).toISOString()} title={formatTime(ms)}>
              {formatAgo(ms)}
            </time>
          </span>
        ))}
    </Text>
  );
}
