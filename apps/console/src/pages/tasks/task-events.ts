import { useThrottledCallback } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { client } from '../../queries/api.ts';
import { useLive } from '../../queries/live.ts';
import { deleted, isOwnWrite } from './own-writes.ts';
import { taskMutationKey, useTaskActions } from './task-queries.ts';

/** Reads the lists again when somebody else, or another window, has changed a task. */
export function useTaskEvents(): void {
  const queries = useQueryClient();
  const { refresh } = useTaskActions();
  const heard = useRef<[task_id: string, version: number][]>([]);
  // A burst of changes causes one reload. An event may arrive before the response to the request that caused it, so
  // nothing is decided while a request is pending.
  const decide = useThrottledCallback(() => {
    if (heard.current.length === 0 || queries.isMutating({ mutationKey: taskMutationKey }) > 0) return;
    const isNews = heard.current.some(write => !isOwnWrite(...write));
    heard.current = [];
    if (isNews) void refresh();
  }, 500);
  useEffect(() => queries.getMutationCache().subscribe(() => decide()), [queries, decide]);
  useLive(
    'tasks',
    options => client.tasks.events({}, options),
    ({ data }) => {
      const { task_id = '', version = deleted } = data as { task_id?: string; version?: number };
      heard.current.push([task_id, version]);
      decide();
    },
  );
}
