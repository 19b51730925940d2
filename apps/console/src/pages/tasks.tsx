import { Button, Group, Modal, SegmentedControl, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconFilter, IconPlus, IconSearch } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { client, messageOf } from '../api.ts';
import { complain } from '../complaint.ts';
import { Failure } from '../failure.tsx';
import { useLive } from '../live.ts';
import { parseQuickTask, type QuickTask } from './quick-task.ts';
import { TaskBoard } from './task-board.tsx';
import { TaskForm } from './task-form.tsx';
import { TaskList } from './task-list.tsx';
import { type Sort, type Task, type TaskStatus, useTaskActions, useTasks } from './task-queries.ts';
import { TaskTrash } from './task-trash.tsx';

const sorts: { value: Sort; label: string }[] = [
  { value: 'position', label: 'My order' },
  { value: 'due_date', label: 'Due date' },
  { value: 'priority', label: 'Priority' },
  { value: 'created', label: 'Created' },
];

export function TasksPage() {
  const [view, setView] = useState('board');
  const [openId, setOpenId] = useState<string>();
  const { refresh } = useTaskActions();
  useLive(
    'tasks',
    options => client.tasks.events({}, options),
    () => void refresh(),
  );
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2}>Tasks</Title>
        <SegmentedControl
          aria-label="View"
          value={view}
          onChange={setView}
          data={[
            { value: 'board', label: 'Board' },
            { value: 'list', label: 'List' },
            { value: 'trash', label: 'Trash' },
          ]}
        />
      </Group>
      {view === 'trash' ? (
        <TaskTrash />
      ) : (
        <>
          <QuickAdd />
          <Tasks isBoard={view === 'board'} onOpen={task => setOpenId(task.task_id)} />
        </>
      )}
      <Modal
        opened={openId !== undefined}
        onClose={() => setOpenId(undefined)}
        title="Task"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {openId !== undefined && <TaskForm task_id={openId} onDone={() => setOpenId(undefined)} />}
      </Modal>
    </Stack>
  );
}

function QuickAdd() {
  const { refresh } = useTaskActions();
  const [text, setText] = useState('');
  const add = useMutation({
    mutationFn: (line: string) => client.tasks.create({ body: parseQuickTask(line) }),
    onSuccess: refresh,
    // What was refused can be mended, unless the next one is being typed already.
    onError: (error, line) => {
      setText(now => now || line);
      complain(error);
    },
  });
  const task = parseQuickTask(text);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (task.title === '') return;
    add.mutate(text);
    setText('');
  };
  return (
    <form onSubmit={submit}>
      <Group align="start" gap="xs" wrap="nowrap">
        <TextInput
          aria-label="New task"
          placeholder="Call Ann tomorrow !high #sales @phone"
          description={describe(task) || 'A day, !priority, #category and @label are understood'}
          inputWrapperOrder={['label', 'input', 'description']}
          value={text}
          onChange={event => setText(event.currentTarget.value)}
          flex={1}
        />
        <Button type="submit" leftSection={<IconPlus size={16} />}>
          Add
        </Button>
      </Group>
    </form>
  );
}

const describe = ({ due_date, recurrence, priority, category, labels = [] }: QuickTask): string =>
  [
    due_date && `due ${due_date}`,
    recurrence?.replace('FREQ=', '').toLowerCase(),
    priority && `${priority} priority`,
    category && `in ${category}`,
    ...labels.map(label => `@${label}`),
  ]
    .filter(Boolean)
    .join(' · ');

function Tasks({ isBoard, onOpen }: { isBoard: boolean; onOpen: (task: Task) => void }) {
  const [search, setSearch] = useState('');
  const [filterText, setFilterText] = useState('');
  const [sort, setSort] = useState<Sort>('position');
  const [q] = useDebouncedValue(search.trim(), 250);
  const [filter] = useDebouncedValue(filterText.trim(), 400);
  const tasks = useTasks({ q, filter, sort });
  const { update, remove } = useTaskActions();
  const rows = tasks.data?.pages.flatMap(page => page.data) ?? [];
  const isNarrowed = q !== '' || filter !== '';
  const empty = isNarrowed ? 'No task is like this.' : 'There is no task yet. Write one above.';
  const move = ({ task_id }: Task, status: TaskStatus) => update({ task_id, status });
  return (
    <Stack gap="sm">
      <Group align="start">
        <TextInput
          aria-label="Search"
          placeholder="Search"
          leftSection={<IconSearch size={16} />}
          value={search}
          onChange={event => setSearch(event.currentTarget.value)}
        />
        <TextInput
          aria-label="Filter"
          placeholder="is:overdue priority>=high -label:someday"
          leftSection={<IconFilter size={16} />}
          value={filterText}
          onChange={event => setFilterText(event.currentTarget.value)}
          error={filter !== '' && q === '' && tasks.error ? messageOf(tasks.error) : undefined}
          disabled={q !== ''}
          flex="1 1 16rem"
        />
        <Select
          aria-label="Order"
          data={sorts}
          value={sort}
          allowDeselect={false}
          onChange={value => setSort(value as Sort)}
          disabled={q !== ''}
          w={140}
        />
      </Group>
      {tasks.error && filter === '' && <Failure error={tasks.error} onRetry={() => tasks.refetch()} />}
      {tasks.isPending && <Text c="dimmed">Looking…</Text>}
      {tasks.data && isBoard && rows.length === 0 && <Text c="dimmed">{empty}</Text>}
      {tasks.data && isBoard && <TaskBoard tasks={rows} onMove={move} onOpen={onOpen} />}
      {tasks.data && !isBoard && (
        <TaskList
          tasks={rows}
          empty={empty}
          onMove={move}
          onOpen={onOpen}
          onRemove={({ task_id }) => remove(task_id)}
        />
      )}
      {tasks.hasNextPage && (
        <Group justify="center">
          <Button variant="default" loading={tasks.isFetchingNextPage} onClick={() => tasks.fetchNextPage()}>
            More tasks
          </Button>
        </Group>
      )}
    </Stack>
  );
}
