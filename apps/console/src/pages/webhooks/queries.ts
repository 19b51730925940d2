import type { ApiTypes } from '@stak/client';
import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { client } from '../../queries/api.ts';
import { paced } from '../../queries/pace.ts';
import { versioned } from '../../queries/save-over.ts';

export type Source = ApiTypes['webhooks.readSource']['data'];
export type Connection = ApiTypes['webhooks.readConnection']['data'];
export type EventRow = ApiTypes['webhooks.listEvents']['data']['data'][number];

export const sourcesQuery = queryOptions({
  queryKey: ['sources'],
  queryFn: async () => (await client.webhooks.listSources()).data.data,
});

export const useSources = () => useQuery({ ...sourcesQuery, refetchInterval: paced(10_000) }); // events arrive all the time

// With its version, for changes.
export const sourceQuery = (sourceId: string) =>
  queryOptions({
    queryKey: ['source', sourceId],
    queryFn: async () => versioned(await client.webhooks.readSource({ sourceId })),
  });

export const connectionQuery = (connectionId: string) =>
  queryOptions({
    queryKey: ['connection', connectionId],
    queryFn: async () => versioned(await client.webhooks.readConnection({ connectionId })),
  });

const connectionsQuery = (sourceId: string) => ({
  queryKey: ['connections', sourceId],
  queryFn: async () => (await client.webhooks.listConnections({ sourceId })).data.data,
});

export const useConnections = (sourceId: string) =>
  useQuery({ ...connectionsQuery(sourceId), refetchInterval: paced(5_000) });

/** The connections of several sources that are loaded so far. */
export const useConnectionsOf = (sourceIds: readonly string[]) =>
  useQueries({
    queries: sourceIds.map(connectionsQuery),
    combine: results => ({
      data: results.flatMap(result => result.data ?? []) as Connection[],
      error: results.find(result => result.error)?.error ?? null,
      isPending: results.some(result => result.isPending),
    }),
  });
