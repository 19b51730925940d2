import { Button, Group, Menu, Progress, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ApiTypes } from '@stak/client';
import { IconRefresh } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { ConfirmDialog } from '../../components/fields/confirm.tsx';
import { useAction } from '../../queries/actions.ts';
import { useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { counted, formatAgo, formatNumber } from '../../text/format.ts';
import type { EventsSearch } from './address.ts';
import { isFiltered } from './event-filters.tsx';
import { refreshEvents } from './event-pages.ts';
import { eventQuery, readPage } from './event-query.ts';
import type { EventRow } from './queries.ts';

type Job = ApiTypes['webhooks.readJob']['data'];
type NewJob = ApiTypes['webhooks.createJob']['args']['body'];

const jobsKey = ['webhook-jobs'] as const;
const jobPollMs = 1_000;
const shownForMs = 10 * 60_000; // how long the result of a job stays visible
const byIdMost = 100; // events per job if they are named by id
const countedPages = 20; // of a hundred each; beyond that, "more than" is enough

/** Delivers one event again, to all connections of its source. */
export const useReplayEvent = () =>
  useAction((eventId: string) => client.webhooks.replayEvent({ eventId, body: {} }), {
    onSuccess: ({ data }) =>
      notifications.show({
        message:
          data.deliveries === 0
            ? 'This source has no connections. Add one first.'
            : `Delivering again to ${counted(data.deliveries, 'connection')}.`,
      }),
    refreshes: [['event'], ['events']],
  });

type Props = { sourceId: string; rows: readonly EventRow[]; search: EventsSearch };

/** Replays many events: all that failed or match the filters, or those in the list. */
export function ReplayMany({ sourceId, rows, search }: Props) {
  const [asked, setAsked] = useState<'matching' | 'listed'>();
  const start = useStartJob(sourceId);
  const shown = rows.filter(row => row.status !== 'rejected').slice(0, byIdMost);
  const connectionIds = search.connection === undefined ? {} : { connectionIds: [search.connection] };
  const wanted = { ...search, status: search.status ?? ('failed' as const) };
  const matching = useCount(sourceId, wanted, asked === 'matching');
  const { status: _, ...others } = search;
  const kind = `${wanted.status} events${isFiltered(others) ? ' that match the filters' : ''}`;
  const confirm = () =>
    start.mutate(
      asked === 'listed'
        ? { action: 'replay', ...connectionIds, eventIds: shown.map(one => one.eventId) }
        : {
            action: 'replay',
            ...connectionIds,
            ...eventQuery(wanted),
            ...(matching && !matching.isCut && { expected: matching.count }),
          },
    );
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<IconRefresh size={16} />} loading={start.isPending}>
            Replay many
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item disabled={wanted.status === 'rejected'} onClick={() => setAsked('matching')}>
            All {kind}…
          </Menu.Item>
          <Menu.Item disabled={shown.length === 0} onClick={() => setAsked('listed')}>
            The {counted(shown.length, 'event')} in the list…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        isOpen={asked !== undefined}
        isDisabled={asked === 'matching' && (matching === undefined || isNothing(matching))}
        title={
          asked === 'listed' ? `Replay ${counted(shown.length, 'event')}?` : titleOf(matching, wanted.status)
        }
        text={
          <>
            {asked === 'matching' && isFiltered(others) && 'Only events that match the filters of the list. '}
            Each is delivered again{' '}
            {search.connection === undefined ? 'to all connections' : 'to the chosen connection'}.
            Destinations may see some of them twice.
          </>
        }
        button={asked === 'listed' ? `Replay ${counted(shown.length, 'event')}` : buttonOf(matching)}
        color="teal"
        onClose={() => setAsked(undefined)}
        onConfirm={confirm}
      />
      <JobProgress sourceId={sourceId} />
    </>
  );
}

type Count = { count: number; isCut: boolean };
const isNothing = ({ count, isCut }: Count): boolean => count === 0 && !isCut;

function titleOf(matching: Count | undefined, status: string): string {
  if (matching === undefined) return `Counting ${status} events…`;
  if (isNothing(matching)) return `There are no ${status} events to replay`;
  const { count, isCut } = matching;
  if (!isCut) return `Replay ${counted(count, `${status} event`)}?`;
  return count === 0
    ? `Replay all ${status} events?`
    : `Replay more than ${formatNumber(count)} ${status} events?`;
}

function buttonOf(matching: Count | undefined): string {
  if (matching === undefined || matching.isCut) return 'Replay all of them';
  return `Replay ${counted(matching.count, 'event')}`;
}

// Counts until the dialog is closed.
function useCount(sourceId: string, search: EventsSearch, isWanted: boolean): Count | undefined {
  return useQuery({
    queryKey: ['event count', sourceId, search],
    queryFn: async ({ signal }): Promise<Count> => {
      let count = 0;
      let cursor: string | undefined;
      for (let page = 0; page < countedPages && !signal.aborted; page++) {
        const { data, next_cursor } = await readPage(sourceId, search, cursor, 100);
        count += data.length;
        if (next_cursor === null) return { count, isCut: false };
        cursor = next_cursor;
      }
      return { count, isCut: true };
    },
    enabled: isWanted,
    gcTime: 0,
    staleTime: 0,
  }).data;
}

function useStartJob(sourceId: string) {
  return useAction((body: NewJob) => client.webhooks.createJob({ sourceId, body }), { refreshes: [jobsKey] });
}

// The running jobs of this source and the last finished one, also after a reload.
function JobProgress({ sourceId }: { sourceId: string }) {
  const queries = useQueryClient();
  const jobs = useRows(jobsKey, () => client.webhooks.listJobs(), {
    refetchOnMount: 'always',
    refetchInterval: ({ state }) => (state.data?.some(isRunning) ? jobPollMs : false),
  });
  const own = (jobs.data ?? []).filter(one => one.sourceId === sourceId && one.action === 'replay');
  const running = own.filter(isRunning);
  const ended = own
    .filter(one => (one.finishedAt ?? 0) > Date.now() - shownForMs)
    .toSorted((a, b) => b.finishedAt! - a.finishedAt!)[0];
  // The list shows what the job has delivered.
  const endedId = ended?.jobId;
  useEffect(() => {
    if (endedId !== undefined) void refreshEvents(queries, sourceId);
  }, [queries, sourceId, endedId]);
  if (running.length === 0 && !ended) return null;
  return (
    <div className="stak-jobs">
      {running.map(job => (
        <RunningJob key={job.jobId} job={job} />
      ))}
      {running.length === 0 && ended && (
        <Text size="sm" c={ended.state === 'failed' ? 'red' : 'dimmed'} ta="right" role="status">
          {tellResult(ended)}
        </Text>
      )}
    </div>
  );
}

const isRunning = ({ state }: Job): boolean => state === 'running';

function tellResult({ state, matched, deliveries, finishedAt = 0 }: Job): string {
  const result = `${counted(matched, 'event')}, ${counted(deliveries, 'delivery', 'deliveries')}`;
  const when = formatAgo(finishedAt);
  if (state === 'cancelled') return `Replay stopped ${when} after ${result}.`;
  if (state === 'failed') return `The replay failed ${when} after ${result}. Start it again.`;
  return matched === 0 ? `There was nothing to replay, ${when}.` : `Replayed ${result}, ${when}.`;
}

function RunningJob({ job }: { job: Job }) {
  const queries = useQueryClient();
  const stop = useAction(() => client.webhooks.cancelJob({ jobId: job.jobId }), {
    onSettled: () => queries.invalidateQueries({ queryKey: jobsKey }),
  });
  const { matched, expected } = job;
  const percent = expected ? Math.min(100, (100 * matched) / expected) : 100;
  return (
    <Group gap="sm" wrap="nowrap" justify="end">
      <Text size="sm" role="status" className="stak-figures">
        Replaying:{' '}
        {expected === undefined
          ? counted(matched, 'event')
          : `${formatNumber(matched)} of ${counted(expected, 'event')}`}
      </Text>
      <Progress
        flex={1}
        maw={240}
        value={percent}
        animated={expected === undefined}
        aria-label="Progress of the replay"
      />
      <Permitted to="webhooks.cancelJob">
        <Button size="compact-sm" variant="default" loading={stop.isPending} onClick={() => stop.mutate()}>
          Stop
        </Button>
      </Permitted>
    </Group>
  );
}
