import type { ApiTypes, TaskPatch } from '@stak/client';
import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { complain } from '../../components/feedback/complaint.ts';
import { offerUndo } from '../../components/feedback/undo.tsx';
import { useAction } from '../../queries/actions.ts';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { formatDay } from '../../text/days.ts';
import type { Drop } from './board-drop.ts';
import { deleted, rememberWrite } from './own-writes.ts';
import { editList, joinPages, type TaskEdit } from './task-edits.ts';

export type Task = ApiTypes['tasks.list']['data']['data'][number];
export type TaskStatus = Task['status'];
export type Sort = NonNullable<ApiTypes['tasks.list']['args']['sort']>;
type WholeTask = ApiTypes['tasks.create']['data'];
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
export const taskMutationKey = ['tasks'];

export type TaskQuery = { q: string; filter: string; sort: Sort };
export type ListKey = TaskQuery & { status?: TaskStatus };

// A stable function, so that thousands of tasks are joined once per response and not on every keystroke.
const joined = ({ pages }: InfiniteData<Page>): Task[] => joinPages(pages);

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
    select: joined,
    placeholderData: keepPreviousData,
    retry: false, // a filter that is refused once is refused again
    enabled: isWanted,
  });
}

export const useTaskCounts = () => useAnswer(countsKey, () => client.tasks.counts());
export type TaskCounts = ApiTypes['tasks.counts']['data'];

const duePages = 5; // of a hundred tasks each

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

// The loaded lists of tasks. An edit is applied at once; lists whose result is uncertain are read again.
function useShownTasks() {
  const queries = useQueryClient();
  const refresh = () => {
    void queries.invalidateQueries({ queryKey: ['insights'] });
    return queries.invalidateQueries({ queryKey: ['tasks'] });
  };
  // Applies the edit to all lists at once. Returns those that have to be read again.
  const show = async (edit: TaskEdit): Promise<ReadonlySet<string>> => {
    const lists = queries.getQueryCache().findAll({ queryKey: listKey });
    // A cancelled request might have brought somebody else's change.
    const inDoubt = new Set(
      lists.filter(list => list.state.fetchStatus === 'fetching').map(list => list.queryHash),
    );
    await queries.cancelQueries({ queryKey: listKey });
    await queries.cancelQueries({ queryKey: dueKey });
    for (const { queryKey, queryHash } of lists)
      queries.setQueryData<InfiniteData<Page>>(queryKey, held => {
        const [first, ...more] = held?.pages ?? [];
        if (!held || !first) return held;
        const isWhole = held.pages.at(-1)!.next_cursor === null;
        const edited = editList(joinPages(held.pages), queryKey[2] as ListKey, edit, isWhole);
        if (!edited.isExact) inDoubt.add(queryHash);
        // All tasks go into the first page, because a task may move between pages.
        const pages = [{ ...first, data: edited.tasks }, ...more.map(page => ({ ...page, data: [] }))];
        return { ...held, pages };
      });
    queries.setQueriesData<DueTasks>({ queryKey: dueKey }, held => {
      const key: ListKey = { q: '', filter: '', sort: 'due_date' };
      return held && { ...held, tasks: editList(held.tasks, key, edit, false).tasks };
    });
    return inDoubt;
  };
  const readAgain = (inDoubt: ReadonlySet<string>) => {
    void queries.invalidateQueries({ queryKey: ['insights'] });
    const isList = (key: readonly unknown[]) => key[1] === listKey[1];
    return queries.invalidateQueries({
      queryKey: ['tasks'],
      predicate: query => !isList(query.queryKey) || !query.isActive() || inDoubt.has(query.queryHash),
    });
  };
  // A task from any of the loaded lists.
  const find = (task_id: string): Task | undefined => {
    const lists = queries.getQueriesData<InfiniteData<Page>>({ queryKey: listKey });
    const due = queries.getQueriesData<DueTasks>({ queryKey: dueKey });
    return [
      ...lists.flatMap(([, held]) => held?.pages.flatMap(page => page.data) ?? []),
      ...due.flatMap(([, held]) => held?.tasks ?? []),
    ].find(one => one.task_id === task_id);
  };
  return { show, readAgain, refresh, find };
}

function tellChange(title: string, status?: TaskStatus, due_date?: string | null): string {
  if (status === 'completed') return `${title} is done.`;
  if (status) return `${title} moved to ${columns.find(column => column.status === status)?.label}.`;
  return due_date ? `${title} moved to ${formatDay(due_date, dueFormat)}.` : `${title} moved.`;
}
const dueFormat = { weekday: 'short', month: 'short', day: 'numeric' } as const;

type Change = { task_id: string; isUndo?: boolean } & TaskPatch;
type Move = Drop & { back?: Drop };

export function useTaskActions() {
  const queries = useQueryClient();
  const { show, readAgain, refresh, find } = useShownTasks();
  const fail = (error: unknown) => {
    complain(error);
    return refresh();
  };
  const update = useMutation({
    mutationKey: taskMutationKey,
    mutationFn: ({ task_id, isUndo: _, ...body }: Change) => client.tasks.update({ task_id, body }),
    onMutate: async ({ task_id, status, due_date }) => {
      const before = find(task_id);
      const set = { ...(status && { status }), ...(due_date && { due_date }) };
      return { before, inDoubt: await show({ kind: 'update', task_id, set }) };
    },
    onSuccess: ({ data }, { task_id, isUndo, status, due_date }, { before, inDoubt }) => {
      rememberWrite(data.task_id, data.version);
      // A recurring task already has a successor, which an undo would leave behind.
      if (before && !isUndo && data.series_id === undefined)
        offerUndo(tellChange(data.title, status, due_date), () =>
          update.mutate({
            task_id,
            isUndo: true,
            ...(status && { status: before.status }),
            ...(due_date && { due_date: before.due_date ?? null }),
          }),
        );
      return readAgain(inDoubt);
    },
    onError: fail,
  });
  const drop = useMutation({
    mutationKey: taskMutationKey,
    mutationFn: async ({ task: { task_id, status: before }, status, position }: Move) => {
      const changed =
        status === before ? undefined : await client.tasks.update({ task_id, body: { status } });
      const moved = position && (await client.tasks.move({ task_id, body: position }));
      return (moved ?? changed)?.data;
    },
    onMutate: async move => {
      const inDoubt = await show({ kind: 'move', drop: move });
      const { task, status } = move;
      queries.setQueryData<TaskCounts>(countsKey, counts => {
        const by = counts?.by_status;
        if (!by || status === task.status) return counts;
        const moved = { [task.status]: by[task.status]! - 1, [status]: by[status]! + 1 };
        return { ...counts, by_status: { ...by, ...moved } };
      });
      return inDoubt;
    },
    onSuccess: (answer, { task, status, back }, inDoubt) => {
      rememberWrite(task.task_id, answer?.version ?? 0);
      if (answer && back && answer.series_id === undefined)
        offerUndo(tellChange(task.title, status === task.status ? undefined : status), () =>
          drop.mutate(back),
        );
      return readAgain(inDoubt);
    },
    onError: fail,
  });
  const restore = useAction((task_id: string) => client.tasks.restore({ task_id }), {
    mutationKey: taskMutationKey,
    onSuccess: ({ data }) => rememberWrite(data.task_id, data.version),
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationKey: taskMutationKey,
    mutationFn: (task_id: string) => client.tasks.delete({ task_id }),
    onMutate: async task_id => ({
      title: find(task_id)?.title,
      inDoubt: await show({ kind: 'remove', task_id }),
    }),
    onSuccess: (_, task_id, { title, inDoubt }) => {
      rememberWrite(task_id, deleted);
      offerUndo(`${title ?? 'The task'} is in the trash.`, () => restore.mutate(task_id));
      return readAgain(inDoubt);
    },
    onError: fail,
  });
  // Applies a response: a task that was added, or changed in a form.
  const showAnswer = async (kind: 'add' | 'update', task: WholeTask) => {
    rememberWrite(task.task_id, task.version);
    await readAgain(await show(kind === 'add' ? { kind, task } : { kind, task_id: task.task_id, set: task }));
  };
  return {
    update: update.mutate,
    drop: drop.mutate,
    remove: remove.mutate,
    restore: restore.mutate,
    showAnswer,
    refresh,
  };
}
