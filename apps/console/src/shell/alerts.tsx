import { ActionIcon, Indicator } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { createClient } from '@stak/client';
import { IconBell } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { client } from '../queries/api.ts';
import { paced } from '../queries/pace.ts';
import { queries } from '../queries/query-client.ts';
import { counted } from '../text/format.ts';
import { lateComponent } from './late-module.tsx';
import { useWasTrue } from './shortcuts.tsx';

// Loaded when it is opened, because the inbox components are large.
const OwnInboxes = lateComponent(() => import('./own-inboxes.tsx'));

const ownKeys = ['alerts', 'tasks'] as const;
export type OwnInbox = { inbox_key: (typeof ownKeys)[number]; unread: number; total: number };
type Own = { tenant_id: string; inboxes: OwnInbox[] };

const tokenMs = 10 * 60_000; // of the 15 minutes that it is valid
const refreshMs = 30_000;
const idleRefreshMs = 3 * 60_000; // of a page that nobody touches

/** The token of Stak's own messages to this account. */
export const ownInboxToken = () =>
  queries.query({
    queryKey: ['own-inbox-token'],
    queryFn: async () => (await client.accounts.mintInboxToken()).data,
    staleTime: tokenMs,
  });

// Stak's own messages to an account are in ordinary inboxes, read with a token of their own.
async function readOwn(): Promise<Own> {
  const { token, tenant_id } = await ownInboxToken();
  const { inbox } = createClient({ baseUrl: '', token });
  const inboxes = await Promise.all(
    ownKeys.map(async inbox_key => {
      const { data } = await inbox.counts({ tenant_id, inbox_key, uid: 'me' });
      return { inbox_key, unread: data.unread, total: data.total };
    }),
  );
  return { tenant_id, inboxes };
}

/** The bell of the header: alerts and reminders to this account. */
export function Alerts() {
  const [isOpen, { open, close }] = useDisclosure(false);
  const isWanted = useWasTrue(isOpen);
  const { data, refetch } = useQuery({
    queryKey: ['own-inboxes'],
    queryFn: readOwn,
    refetchInterval: paced(refreshMs, idleRefreshMs),
  });
  const leave = () => {
    close();
    void refetch();
  };
  const unread = data?.inboxes.reduce((sum, inbox) => sum + inbox.unread, 0) ?? 0;
  const label = unread > 0 ? `Alerts: ${counted(unread, 'unread message')}` : 'Alerts';
  return (
    <>
      <Indicator
        label={unread > 99 ? '99+' : unread}
        disabled={unread === 0}
        size={16}
        offset={2}
        color="red"
      >
        <ActionIcon variant="default" size="lg" aria-label={label} onClick={open}>
          <IconBell size={18} />
        </ActionIcon>
      </Indicator>
      {data && isWanted && (
        <Suspense>
          <OwnInboxes {...data} isOpen={isOpen} onClose={leave} />
        </Suspense>
      )}
    </>
  );
}
