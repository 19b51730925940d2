import type { ApiTypes, TasksBulkBodyItemsItemSet as TaskChange } from '@stak/client';
import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { complain } from '../../components/complaint.ts';
import { client } from '../../queries/api.ts';
import { type Drop, reorder } from './board-drop.ts';

export type Task = ApiTypes['tasks.list']['data']['data'][number];
export type TaskStatus = Task['status'];
export type Sort = NonNullable<ApiTypes['tasks.list']['args']['sort']>;
type Page = { data: Task[]; next_cursor: string | null };

export const columns: readonly { status: TaskStatus; label: string }[] = [
  { status: 'pending', label: 'To do' },
  { status: 'in_progress', label: 'In progress' },
  { status: 'completed', label: 'Done' },
  { status: 'cancelled', label: 'Cancelled' },
];

const listKey = ['tasks', 'list'];
const dueKey = ['tasks', 'due'];
const countsKey = ['tasks', 'counts'];

export type TaskQuery = { q: string; filter: string; sort: Sort };
type ListKey = TaskQuery & { status?: TaskStatus };

// Search results come best match first; otherwise the filter and the order apply.
export function useTasks({ q, filter, sort }: TaskQuery, status?: TaskStatus, isWanted = true) {
  const of: ListKey = { q, filter, sort, ...(status && { status }) };
  return useInfiniteQuery({
    queryKey: [...listKey, of],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: cursor }): Promise<Page> => {
      const page = { limit: 100, ...(cursor && { cursor }) };
      if (q !== '') return (await client.tasks.search({ q, ...page })).data;
      const terms = status ? `${filter} status:${status}`.trim() : filter;
      return (await client.tasks.list({ filter: terms, sort, ...page })).data;
    },
    getNextPageParam: page => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    retry: false, // a filter that is refused once is refused again
    enabled: isWanted,
  });
}

export const useTaskCounts = () =>
  useQuery({ queryKey: countsKey, queryFn: async () => (await client.tasks.counts()).data });
export type TaskCounts = ApiTypes['tasks.counts']['data'];

const duePages = 5; // of a hundred: more than anybody reads in a month

export type DueTasks = { tasks: Task[]; isCut: boolean };

export function useTasksDue(from: string, to: string) {
  return useQuery({
    queryKey: [...dueKey, from, to],
    queryFn: async (): Promise<DueTasks> => {
      const filter = `due:${from}..${to} -status:cancelled`;
      const tasks: Task[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < duePages; page++) {
        const query = { filter, sort: 'due_date' as const, limit: 100, ...(cursor && { cursor }) };
        const { data } = await client.tasks.list(query);
        tasks.push(...data.data);
        if (data.next_cursor === null) return { tasks, isCut: false };
        cursor = data.next_cursor;
      }
      return { tasks, isCut: true };
    },
    placeholderData: keepPreviousData,
  });
}

export function useTaskActions() {
  const queries = useQueryClient();
  const refresh = () => {
    void queries.invalidateQueries({ queryKey: ['insights'] });
    return queries.invalidateQueries({ queryKey: ['tasks'] });
  };
  // The change shows at once where it was made; the server's answer replaces it a moment later.
  const foresee = async (change: (tasks: Task[], column?: TaskStatus) => Task[]) => {
    await queries.cancelQueries({ queryKey: listKey });
    await queries.cancelQueries({ queryKey: dueKey });
    for (const { queryKey } of queries.getQueryCache().findAll({ queryKey: listKey }))
      queries.setQueryData<InfiniteData<Page>>(queryKey, held => {
        if (!held) return held;
        const [first, ...more] = held.pages;
        // All of them stand in the first page until they are read again: a task may move from page to page.
        const data = change(
          held.pages.flatMap(page => page.data),
          (queryKey[2] as ListKey).status,
        );
        return (
          first && { ...held, pages: [{ ...first, data }, ...more.map(page => ({ ...page, data: [] }))] }
        );
      });
    queries.setQueriesData<DueTasks>(
      { queryKey: dueKey },
      held => held && { ...held, tasks: change(held.tasks) },
    );
  };
  const after = { onError: complain, onSettled: refresh };
  const update = useMutation({
    mutationFn: ({ task_id, ...body }: { task_id: string } & TaskChange) =>
      client.tasks.update({ task_id, body }),
    onMutate: ({ task_id, status, due_date }) =>
      foresee((tasks, column) =>
        tasks
          .map(task =>
            task.task_id === task_id
              ? { ...task, ...(status && { status }), ...(due_date && { due_date }) }
              : task,
          )
          .filter(task => column === undefined || task.status === column),
      ),
    ...after,
  });
  const drop = useMutation({
    mutationFn: async ({ task: { task_id, status: before }, status, position }: Drop) => {
      if (status !== before) await client.tasks.update({ task_id, body: { status } });
      if (position) await client.tasks.move({ task_id, body: position });
    },
    onMutate: async move => {
      await foresee((tasks, column) => reorder(tasks, move, column));
      const { task, status } = move;
      queries.setQueryData<TaskCounts>(countsKey, counts => {
        const by = counts?.by_status;
        if (!by || status === task.status) return counts;
        const moved = { [task.status]: by[task.status]! - 1, [status]: by[status]! + 1 };
        return { ...counts, by_status: { ...by, ...moved } };
      });
    },
    ...after,
  });
  const remove = useMutation({ mutationFn: (task_id: string) => client.tasks.delete({ task_id }), ...after });
  return { update: update.mutate, drop: drop.mutate, remove: remove.mutate, refresh };
}
