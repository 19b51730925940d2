import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconFilter, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { messageOf } from '../../api.ts';
import { Failure } from '../../failure.tsx';
import { QuickAdd } from './quick-add.tsx';
import { TaskBoard } from './task-board.tsx';
import { TaskList } from './task-list.tsx';
import { type Sort, type Task, useTaskActions, useTasks } from './task-queries.ts';

const sorts: { value: Sort; label: string }[] = [
  { value: 'position', label: 'My order' },
  { value: 'due_date', label: 'Due date' },
  { value: 'priority', label: 'Priority' },
  { value: 'created', label: 'Created' },
];

// What is searched or filtered for, as a board or as a list.
export function TaskBrowser({ isBoard, onOpen }: { isBoard: boolean; onOpen: (task: Task) => void }) {
  const [search, setSearch] = useState('');
  const [filterText, setFilterText] = useState('');
  const [sort, setSort] = useState<Sort>('position');
  const [q] = useDebouncedValue(search.trim(), 250);
  const [filter] = useDebouncedValue(filterText.trim(), 400);
  const tasks = useTasks({ q, filter, sort });
  const { update, drop, remove } = useTaskActions();
  const rows = tasks.data?.pages.flatMap(page => page.data) ?? [];
  const isNarrowed = q !== '' || filter !== '';
  const empty = isNarrowed ? 'No task is like this.' : 'There is no task yet. Write one above.';
  return (
    <Stack gap="sm">
      <QuickAdd />
      <Group align="start" gap="xs">
        <TextInput
          aria-label="Search"
          placeholder="Search"
          leftSection={<IconSearch size={16} />}
          value={search}
          onChange={event => setSearch(event.currentTarget.value)}
          flex="1 1 10rem"
        />
        <TextInput
          aria-label="Filter"
          placeholder="is:overdue priority>=high -label:someday"
          leftSection={<IconFilter size={16} />}
          value={filterText}
          onChange={event => setFilterText(event.currentTarget.value)}
          error={filter !== '' && q === '' && tasks.error ? messageOf(tasks.error) : undefined}
          disabled={q !== ''}
          flex="3 1 16rem"
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
      {tasks.data && isBoard && (
        <TaskBoard
          tasks={rows}
          isOrdered={sort === 'position' && q === ''}
          onDrop={one => drop(one)}
          onOpen={onOpen}
        />
      )}
      {tasks.data && !isBoard && (
        <TaskList
          tasks={rows}
          empty={empty}
          onMove={({ task_id }, status) => update({ task_id, status })}
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
