import { Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconFilter, IconSearch } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loading } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { messageOf } from '../../queries/api.ts';
import { useMay } from '../../queries/permissions.ts';
import { useAddressText } from '../../text/address-text.ts';
import type { TasksSearch } from './address.ts';
import type { ColumnTasks } from './board-column.tsx';
import { FilterMenu } from './filter-menu.tsx';
import { QuickAdd } from './quick-add.tsx';
import { TaskBoard } from './task-board.tsx';
import { TaskList } from './task-list.tsx';
import {
  type Sort,
  type Task,
  type TaskQuery,
  type TaskStatus,
  useTaskActions,
  useTaskCounts,
  useTasks,
} from './task-queries.ts';

const route = getRouteApi('/inside/tasks');

const sorts: { value: Sort; label: string }[] = [
  { value: 'position', label: 'My order' },
  { value: 'due_date', label: 'Due date' },
  { value: 'priority', label: 'Priority' },
  { value: 'created', label: 'Created' },
];

const none: readonly Task[] = [];

// Selected one by one, because the open card is in the address too and must not redraw the list.
const useTaskQuery = (): TaskQuery => ({
  q: route.useSearch({ select: ({ q = '' }) => q }),
  filter: route.useSearch({ select: ({ filter = '' }) => filter }),
  sort: route.useSearch({ select: ({ sort = 'position' }) => sort }),
});

// The tasks that match a search or a filter, as a board or as a list.
export function TaskBrowser({ isBoard, onOpen }: { isBoard: boolean; onOpen: (task: Task) => void }) {
  const query = useTaskQuery();
  const { q, filter, sort } = query;
  const isByColumn = isBoard && q === '';
  const board = useBoard(query, isByColumn);
  const list = useTasks(query, undefined, !isByColumn);
  const { update, drop, remove } = useTaskActions();
  const may = useMay();
  const rows = list.data ?? none;
  const error = isByColumn ? board.error : list.error;
  const isPending = isByColumn ? board.isPending : list.isPending;
  const byStatus = isByColumn ? board.byStatus : splitByStatus(rows);
  const isEmpty = isByColumn
    ? Object.values(byStatus).every(({ tasks, hasMore }) => tasks.length === 0 && !hasMore)
    : rows.length === 0;
  const empty =
    q === '' && filter === ''
      ? `There is no task yet.${may('tasks.create') ? ' Add one above.' : ''}`
      : 'No task matches. Change the filter.';
  return (
    <Stack gap="sm">
      <Permitted to="tasks.create">
        <QuickAdd />
      </Permitted>
      <FilterBar complaint={filter !== '' && q === '' && error ? messageOf(error) : undefined} />
      {error && filter === '' && (
        <Failure error={error} onRetry={() => (isByColumn ? board.refetch() : list.refetch())} />
      )}
      {isPending && !error && <Loading />}
      {!isPending && !error && isBoard && isEmpty && <Text c="dimmed">{empty}</Text>}
      {!isPending && isBoard && (
        <TaskBoard
          byStatus={byStatus}
          isOrdered={sort === 'position' && q === ''}
          onDrop={(one, back) => drop({ ...one, back })}
          onOpen={onOpen}
        />
      )}
      {list.data && !isBoard && (
        <TaskList
          tasks={rows}
          empty={empty}
          hasMore={list.hasNextPage}
          isLoading={list.isFetchingNextPage}
          onMore={list.fetchNextPage}
          onMove={({ task_id }, status) => update({ task_id, status })}
          onOpen={onOpen}
          onRemove={({ task_id }) => remove(task_id)}
        />
      )}
    </Stack>
  );
}

// A separate component, so that typing does not redraw the cards.
function FilterBar({ complaint }: { complaint: string | undefined }) {
  const { q, filter, sort } = useTaskQuery();
  const navigate = route.useNavigate();
  const change = (part: TasksSearch) =>
    void navigate({ search: before => ({ ...before, ...part }), replace: true });
  const [search, setSearch] = useAddressText(q, text => change({ q: text }));
  const [filterText, setFilterText] = useAddressText(filter, text => change({ filter: text }), 400);
  return (
    <Group align="start" gap="xs">
      <TextInput
        aria-label="Search"
        placeholder="Search"
        data-search
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
        rightSection={<FilterMenu filter={filterText} isDisabled={q !== ''} onChange={setFilterText} />}
        error={complaint}
        disabled={q !== ''}
        flex="3 1 16rem"
      />
      <Select
        aria-label="Order"
        data={sorts}
        value={sort}
        allowDeselect={false}
        onChange={value => change({ sort: value as Sort })}
        disabled={q !== ''}
        w={140}
      />
    </Group>
  );
}

// Each column is a separate list, because a page of all tasks may contain none of a column.
function useBoard(query: TaskQuery, isWanted: boolean) {
  const pending = useTasks(query, 'pending', isWanted);
  const inProgress = useTasks(query, 'in_progress', isWanted);
  const completed = useTasks(query, 'completed', isWanted);
  const cancelled = useTasks(query, 'cancelled', isWanted);
  const counts = useTaskCounts().data?.by_status;
  const all = [pending, inProgress, completed, cancelled];
  const columnOf = (status: TaskStatus, list: typeof pending): ColumnTasks => {
    const tasks = list.data ?? none;
    const counted = query.filter === '' ? counts?.[status] : undefined;
    return {
      tasks,
      total: list.hasNextPage ? counted : tasks.length, // a fully loaded list is its own count
      hasMore: list.hasNextPage,
      isLoading: list.isFetching,
      loadMore: list.fetchNextPage,
    };
  };
  return {
    byStatus: {
      pending: columnOf('pending', pending),
      in_progress: columnOf('in_progress', inProgress),
      completed: columnOf('completed', completed),
      cancelled: columnOf('cancelled', cancelled),
    },
    error: all.find(one => one.error)?.error ?? null,
    isPending: all.some(one => one.isPending),
    refetch: () => void Promise.all(all.map(one => one.refetch())),
  };
}

function splitByStatus(tasks: readonly Task[]): Record<TaskStatus, ColumnTasks> {
  const columnOf = (status: TaskStatus): ColumnTasks => {
    const own = tasks.filter(task => task.status === status);
    return { tasks: own, total: own.length, hasMore: false, isLoading: false, loadMore: () => {} };
  };
  return {
    pending: columnOf('pending'),
    in_progress: columnOf('in_progress'),
    completed: columnOf('completed'),
    cancelled: columnOf('cancelled'),
  };
}
