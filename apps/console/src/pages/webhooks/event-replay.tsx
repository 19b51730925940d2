import { Button, Menu, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ApiTypes } from '@stak/client';
import { IconRefresh } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { complain } from '../../components/complaint.ts';
import { ConfirmDialog } from '../../components/confirm.tsx';
import { client } from '../../queries/api.ts';
import { formatNumber } from '../../text/format.ts';
import type { EventsSearch } from './address.ts';
import type { EventRow } from './queries.ts';

type Job = ApiTypes['webhooks.readJob']['data'];
type NewJob = ApiTypes['webhooks.createJob']['args']['body'];

const jobPollMs = 1_000;
const byIdMost = 100; // events that one job takes by their ids

const counted = (count: number, one: string, many: string): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

type Props = { sourceId: string; rows: readonly EventRow[]; search: EventsSearch };

/** Delivers many events again: all that failed, or those that the list shows. */
export function ReplayMany({ sourceId, rows, search }: Props) {
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Job>();
  const [asked, setAsked] = useState<'failed' | 'listed'>();
  const shown = rows.filter(one => one.status !== 'rejected').slice(0, byIdMost);
  const connectionIds = search.connection === undefined ? {} : { connectionIds: [search.connection] };
  const replay = useMutation({
    mutationFn: async (body: NewJob) => {
      const { data } = await client.webhooks.createJob({ sourceId, body });
      for (let job = data; ; job = (await client.webhooks.readJob({ jobId: job.jobId })).data) {
        setProgress(job);
        if (job.state !== 'running') return job;
        await new Promise(resolve => setTimeout(resolve, jobPollMs));
      }
    },
    onSuccess: ({ matched, deliveries, state }) => {
      notifications.show({
        color: state === 'done' ? undefined : 'red',
        message:
          matched === 0
            ? 'There are no such events.'
            : `Replayed ${counted(matched, 'event', 'events')}: ${counted(deliveries, 'delivery', 'deliveries')}.`,
      });
      return queries.invalidateQueries({ queryKey: ['events', sourceId] });
    },
    onError: complain,
    onSettled: () => setProgress(undefined),
  });
  const failed: NewJob = { action: 'replay', status: 'failed', ...connectionIds };
  const listed: NewJob = { action: 'replay', eventIds: shown.map(one => one.eventId), ...connectionIds };
  const target = search.connection === undefined ? 'to all connections' : 'to the chosen connection';
  return (
    <>
      {progress?.state === 'running' && (
        <Text size="sm" c="dimmed" role="status">
          {formatNumber(progress.matched)} replayed so far
        </Text>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<IconRefresh size={16} />} loading={replay.isPending}>
            Replay many
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setAsked('failed')}>All failed events…</Menu.Item>
          <Menu.Item disabled={shown.length === 0} onClick={() => setAsked('listed')}>
            The {counted(shown.length, 'event', 'events')} in the list…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        isOpen={asked !== undefined}
        title={
          asked === 'listed'
            ? `Replay ${counted(shown.length, 'event', 'events')}?`
            : 'Replay all failed events?'
        }
        text={`${asked === 'listed' ? 'The events in the list are' : 'Every failed event of this source is'} delivered again ${target}. Destinations may see some of them twice.`}
        button="Replay"
        onClose={() => setAsked(undefined)}
        onConfirm={() => replay.mutate(asked === 'listed' ? listed : failed)}
      />
    </>
  );
}
