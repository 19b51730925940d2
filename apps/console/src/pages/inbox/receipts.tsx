import { Badge, Button, Group, Modal, SegmentedControl, Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { DataTable } from '../../components/display/data-table.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loading } from '../../components/feedback/loaded.tsx';
import { saveFile } from '../../components/fields/saved-file.ts';
import { whyId } from '../../components/why/lines.ts';
import { Why } from '../../components/why/why.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { formatTime } from '../../text/format.ts';
import type { InboxPath } from './queries.ts';

type Props = { inboxPath: InboxPath; id: string; onClose: () => void };

const choices = [
  { value: '', label: 'Everyone' },
  { value: 'true', label: 'Read' },
  { value: 'false', label: 'Unread' },
];

// The recipients of a message, and when they read it.
export function Receipts({ inboxPath, id, onClose }: Props) {
  const [read, setRead] = useState('');
  const { data: send } = useAnswer(['send', inboxPath.tenant_id, inboxPath.inbox_key, id], () =>
    client.inbox.readSend({ ...inboxPath, id }),
  );
  const receipts = useInfiniteQuery({
    queryKey: ['receipts', inboxPath.tenant_id, inboxPath.inbox_key, id, read],
    queryFn: async ({ pageParam }) => {
      const filter = read === '' ? {} : { read: read as 'true' | 'false' };
      const cursor = pageParam ? { cursor: pageParam } : {};
      return (await client.inbox.listReceipts({ ...inboxPath, id, limit: 50, ...filter, ...cursor })).data;
    },
    initialPageParam: '',
    getNextPageParam: page => page.next_cursor,
  });
  const save = useSubmit(
    async () => (await client.inbox.exportReceipts({ ...inboxPath, id, format: 'csv' })).data,
    { onSuccess: file => saveFile(`receipts-${id}.csv`, file as BlobPart) },
  );
  const error = receipts.error ?? save.error;

  return (
    <Modal opened onClose={onClose} title={`Receipts of ${send?.title ?? 'a message'}`} size="lg">
      <Stack aria-busy={receipts.isPending}>
        <SegmentedControl aria-label="Show" data={choices} value={read} onChange={setRead} />
        {error && <Failure error={error} onRetry={() => receipts.refetch()} />}
        {receipts.isPending && <Loading />}
        {receipts.data && (
          <DataTable
            label="Receipts"
            rows={receipts.data.pages.flatMap(page => page.data)}
            keyOf={row => row.uid}
            empty={receipts.hasNextPage ? 'None on this page. Load more.' : 'No users.'}
            minWidth={320}
            columns={[
              { label: 'User', show: row => row.uid },
              {
                label: 'Status',
                show: row => (
                  <Badge variant="light" color={row.read ? 'teal' : 'gray'}>
                    {row.read ? 'Read' : 'Unread'}
                  </Badge>
                ),
              },
              { label: 'When', show: row => (row.readat === null ? '–' : formatTime(row.readat * 1000)) },
            ]}
          />
        )}
        <Why id={whyId('message', inboxPath.tenant_id, inboxPath.inbox_key, id)} about="this message" />
        <Group justify="space-between">
          {receipts.hasNextPage ? (
            <Button
              variant="default"
              loading={receipts.isFetchingNextPage}
              onClick={() => receipts.fetchNextPage()}
            >
              Show more
            </Button>
          ) : (
            <span />
          )}
          <Button variant="default" loading={save.isPending} onClick={() => save.mutate()}>
            Save all as CSV
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
