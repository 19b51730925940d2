import type { ApiTypes, TasksBulkBodyItemsItemSet as TaskChange } from '@stak/client';
import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { client } from '../api.ts';
import { complain } from '../complaint.ts';

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

// What is searched for is ranked by how well it fits; otherwise the filter and the order hold.
export function useTasks({ q, filter, sort }: { q: string; filter: string; sort: Sort }) {
  return useInfiniteQuery({
    queryKey: ['tasks', 'list', q, filter, sort],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: cursor }): Promise<Page> => {
      const page = { limit: 100, ...(cursor && { cursor }) };
      if (q !== '') return (await client.tasks.search({ q, ...page })).data;
      return (await client.tasks.list({ filter, sort, ...page })).data;
    },
    getNextPageParam: page => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    retry: false, // a filter that is refused once is refused again
  });
}

export function useTaskActions() {
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: ['tasks'] });
  const update = useMutation({
    mutationFn: ({ task_id, ...body }: { task_id: string } & TaskChange) =>
      client.tasks.update({ task_id, body }),
    // It is seen at once where it was dropped; what the server says counts a moment later.
    onMutate: async ({ task_id, status }) => {
      if (status === undefined) return;
      await queries.cancelQueries({ queryKey: ['tasks', 'list'] });
      queries.setQueriesData<InfiniteData<Page>>({ queryKey: ['tasks', 'list'] }, held => {
        const change = (task: Task) => (task.task_id === task_id ? { ...task, status } : task);
        return held && { ...held, pages: held.pages.map(page => ({ ...page, data: page.data.map(change) })) };
      });
    },
    onError: complain,
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: (task_id: string) => client.tasks.delete({ task_id }),
    onError: complain,
    onSettled: refresh,
  });
  return { update: update.mutate, remove: remove.mutate, refresh };
}
