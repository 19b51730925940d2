import { Anchor, Drawer, Skeleton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { createClient, StakError } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { client } from '../../api.ts';
import { formatNumber } from '../../format.ts';
import { Stat } from '../../stat.tsx';

// For whoever opens it: the components of an inbox are not small.
const OwnInboxes = lazy(() => import('./own-inboxes.tsx'));

const ownKeys = ['alerts', 'tasks'] as const;
export type OwnInbox = { inbox_key: (typeof ownKeys)[number]; unread: number };
type Own = { tenant_id: string; inboxes: OwnInbox[] };

// What Stak tells an account is in inboxes like any other, read with a token of its own.
async function readOwn(): Promise<Own> {
  const { data: own } = await client.accounts.mintInboxToken();
  const { inbox } = createClient({ baseUrl: '', token: own.token });
  const { tenant_id } = own;
  const found = await Promise.all(
    ownKeys.map(inbox_key =>
      inbox
        .counts({ tenant_id, inbox_key, uid: 'me' })
        .then(({ data }) => [{ inbox_key, unread: data.unread }], ifNone),
    ),
  );
  return { tenant_id, inboxes: found.flat() };
}

// An inbox is made with its first message.
function ifNone(error: unknown): [] {
  if (error instanceof StakError && error.status === 404) return [];
  throw error;
}

export function Alerts() {
  const [isOpen, { open, close }] = useDisclosure(false);
  const { data, refetch } = useQuery({
    queryKey: ['own-inboxes'],
    queryFn: readOwn,
    refetchInterval: 15_000,
  });
  const leave = () => {
    close();
    void refetch();
  };
  const unread = data?.inboxes.reduce((sum, one) => sum + one.unread, 0) ?? 0;
  return (
    <>
      <Stat
        label="Unread alerts"
        value={data ? formatNumber(unread) : '…'}
        note={
          data && data.inboxes.length > 0 ? (
            <Anchor component="button" type="button" size="xs" onClick={open}>
              {unread > 0 ? 'Read them' : 'Read earlier ones'}
            </Anchor>
          ) : (
            'Nothing needs you'
          )
        }
      />
      <Drawer opened={isOpen} onClose={leave} position="right" size="lg" title="Alerts and reminders">
        {data && (
          <Suspense fallback={<Skeleton h={200} />}>
            <OwnInboxes {...data} />
          </Suspense>
        )}
      </Drawer>
    </>
  );
}
