import { Badge, Button, Card, Group, Progress, Stack, Text } from '@mantine/core';
import type { Send } from '@stak/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { DataTable } from '../../components/display/data-table.tsx';
import { More } from '../../components/display/pages.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { Confirm, type Question } from '../../components/fields/confirm.tsx';
import { useAction } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { paced } from '../../queries/pace.ts';
import { withCapital } from '../../text/capital.ts';
import { formatAgo, formatNumber, formatShare, formatTime } from '../../text/format.ts';
import { PublicCounts } from './public-counts.tsx';
import { type InboxPath, nameAudience, sendsKey } from './queries.ts';
import { Receipts } from './receipts.tsx';

const refreshMs = 4_000; // the read counts change, and there is no stream for senders

type Props = { inboxPath: InboxPath; opened: string | undefined; onOpen: (id: string | undefined) => void };

export function Sends({ inboxPath, opened, onOpen }: Props) {
  const sends = useInfiniteQuery({
    queryKey: sendsKey(inboxPath),
    queryFn: async ({ pageParam }) =>
      (await client.inbox.listSends({ ...inboxPath, limit: 50, ...(pageParam && { cursor: pageParam }) }))
        .data,
    initialPageParam: '',
    getNextPageParam: page => page.next_cursor,
    refetchInterval: paced(refreshMs),
  });
  const takeBack = useAction(
    ({ id, status }: Send) =>
      status === 'scheduled'
        ? client.inbox.cancel({ ...inboxPath, id })
        : client.inbox.redact({ ...inboxPath, id }),
    { refreshes: [sendsKey(inboxPath)] },
  );

  if (sends.error && !sends.data) return <Failure error={sends.error} onRetry={() => sends.refetch()} />;
  return (
    <Stack aria-busy={sends.isPending}>
      <PublicCounts inboxPath={inboxPath} />
      {sends.error && <Failure error={sends.error} onRetry={() => sends.refetch()} />}
      {sends.data && (
        <Card withBorder>
          <SendTable
            rows={sends.data.pages.flatMap(page => page.data)}
            onShow={({ id }) => onOpen(id)}
            onTakeBack={takeBack.mutate}
          />
          <More of={sends} label="Show older" />
        </Card>
      )}
      {opened !== undefined && (
        <Receipts key={opened} inboxPath={inboxPath} id={opened} onClose={() => onOpen(undefined)} />
      )}
    </Stack>
  );
}

const colors: Record<Send['status'], string> = {
  scheduled: 'blue',
  delivering: 'yellow',
  sent: 'teal',
  redacting: 'orange',
  redacted: 'gray',
  cancelled: 'gray',
};

function SendTable({
  rows,
  onShow,
  onTakeBack,
}: {
  rows: Send[];
  onShow: (send: Send) => void;
  onTakeBack: (send: Send) => void;
}) {
  return (
    <DataTable
      label="Sent messages"
      rows={rows}
      keyOf={row => row.id}
      empty="Nothing has been sent to this inbox yet. Write the first message under Messages."
      columns={[
        { label: 'Title', show: showTitle },
        { label: 'To', show: nameAudience },
        { label: 'When', show: showWhen },
        {
          label: 'Status',
          show: row => (
            <Badge variant="light" color={colors[row.status]}>
              {withCapital(row.status)}
            </Badge>
          ),
        },
        { label: 'Delivered', isNumber: true, show: row => formatNumber(row.delivered) },
        { label: 'Read', isNumber: true, show: row => formatNumber(row.read) },
        { label: 'Read rate', show: showRate },
        {
          label: '',
          show: row =>
            (row.status === 'scheduled' || row.status === 'sent' || row.status === 'delivering') && (
              <Group gap="xs" wrap="nowrap">
                {row.status !== 'scheduled' && (
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`Receipts of ${row.title}`}
                    onClick={() => onShow(row)}
                  >
                    Receipts
                  </Button>
                )}
                <Permitted to={row.status === 'scheduled' ? 'inbox.cancel' : 'inbox.redact'}>
                  <Confirm {...questionOf(row)} onConfirm={() => onTakeBack(row)}>
                    {ask => (
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={`${row.status === 'scheduled' ? 'Cancel' : 'Redact'} ${row.title}`}
                        onClick={ask}
                      >
                        {row.status === 'scheduled' ? 'Cancel' : 'Redact'}
                      </Button>
                    )}
                  </Confirm>
                </Permitted>
              </Group>
            ),
        },
      ]}
    />
  );
}

function questionOf({ status, title }: Send): Question {
  const isScheduled = status === 'scheduled';
  const told = isScheduled
    ? 'It will not be sent.'
    : 'It disappears immediately from every inbox that has it, and from the counts. This cannot be undone.';
  return {
    title: isScheduled ? 'Cancel this message?' : 'Redact this message?',
    text: (
      <>
        <Text fw={600}>{title}</Text>
        {told}
      </>
    ),
    button: isScheduled ? 'Cancel message' : 'Redact',
    keep: 'Keep it',
  };
}

// A redacted message keeps no text.
function showTitle({ title, status }: Send) {
  return (
    title ?? (
      <Text c="dimmed" size="sm">
        {status === 'cancelled' ? 'Cancelled' : 'Redacted'}
      </Text>
    )
  );
}

function showWhen({ status, send_at, received }: Send) {
  if (status === 'scheduled' && send_at !== undefined) return `at ${formatTime(send_at * 1000)}`;
  return <span title={formatTime(received * 1000)}>{formatAgo(received * 1000)}</span>;
}

function showRate({ status, read_rate, title }: Send) {
  if (status !== 'sent' && status !== 'delivering') return '–';
  const percent = Math.round(100 * read_rate);
  return (
    <Group gap="xs" wrap="nowrap" miw={110}>
      <Progress value={percent} flex={1} aria-label={`Read rate of ${title}`} />
      <Text size="sm" w="3rem" ta="right" className="stak-figures">
        {formatShare(read_rate)}
      </Text>
    </Group>
  );
}
