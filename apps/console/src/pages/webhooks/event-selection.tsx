import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlayerStop, IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { Confirm } from '../../components/fields/confirm.tsx';
import { useAction } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { counted } from '../../text/format.ts';
import type { EventRow } from './queries.ts';

const byIdMost = 100; // events of a job that are named by id

/** Starts jobs for these events: one for each source, and for each hundred. */
async function startJobs(action: 'replay' | 'cancel', rows: readonly EventRow[]): Promise<void> {
  const bySource = new Map<string, string[]>();
  for (const { sourceId, eventId } of rows)
    bySource.set(sourceId, [...(bySource.get(sourceId) ?? []), eventId]);
  for (const [sourceId, ids] of bySource)
    for (let at = 0; at < ids.length; at += byIdMost)
      await client.webhooks.createJob({
        sourceId,
        body: { action, eventIds: ids.slice(at, at + byIdMost) },
      });
}

const texts = {
  replay: {
    button: 'Replay',
    color: 'teal',
    keep: 'Cancel',
    ask: (events: string) => `Replay ${events}?`,
    done: 'is delivered again',
    doneMany: 'are delivered again',
    text: 'Each is delivered again to all connections. Destinations may see some of them twice.',
  },
  cancel: {
    button: 'Cancel deliveries',
    color: 'red',
    keep: 'Keep them',
    ask: (events: string) => `Cancel the deliveries of ${events}?`,
    done: 'is not tried any more',
    doneMany: 'are not tried any more',
    text: 'Deliveries that have not succeeded yet are not tried any more. Those that have stay as they are.',
  },
} as const;

type Props = { rows: readonly EventRow[]; onClear: () => void };

/** What can be done with the chosen events. */
export function EventSelection({ rows, onClear }: Props) {
  const start = useAction((action: 'replay' | 'cancel') => startJobs(action, rows), {
    refreshes: [['webhook-jobs'], ['events']],
    onSuccess: (_, action) => {
      const { done, doneMany } = texts[action];
      notifications.show({
        message: `${counted(rows.length, 'event')} ${rows.length === 1 ? done : doneMany}.`,
      });
      onClear();
    },
  });
  if (rows.length === 0) return null;
  const events = counted(rows.length, 'event');
  const offer = (action: 'replay' | 'cancel', icon: ReactNode) => {
    const { ask, text, button, color, keep } = texts[action];
    const question = { title: ask(events), text, button, color, keep };
    return (
      <Confirm {...question} onConfirm={() => start.mutate(action)}>
        {open => (
          <Button size="xs" variant="default" leftSection={icon} loading={start.isPending} onClick={open}>
            {button}
          </Button>
        )}
      </Confirm>
    );
  };
  return (
    <Group gap="xs" className="stak-selection" role="toolbar" aria-label="Chosen events">
      <Text size="sm" fw={600} className="stak-figures" role="status">
        {events} chosen
      </Text>
      <Permitted to="webhooks.createJob">
        {offer('replay', <IconRefresh size={14} />)}
        {offer('cancel', <IconPlayerStop size={14} />)}
      </Permitted>
      <Button size="xs" variant="subtle" color="gray" onClick={onClear}>
        Clear
      </Button>
    </Group>
  );
}
