import { Anchor } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { createClient } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Stat } from '../../components/display/stat.tsx';
import { client } from '../../queries/api.ts';
import { lateComponent } from '../../shell/late-module.tsx';
import { useWasTrue } from '../../shell/shortcuts.tsx';
import { formatNumber } from '../../text/format.ts';
import { idleMs } from './idle.ts';

// Loaded when it is opened, because the inbox components are large.
const OwnInboxes = lateComponent(() => import('./own-inboxes.tsx'));

const ownKeys = ['alerts', 'tasks'] as const;
export type OwnInbox = { inbox_key: (typeof ownKeys)[number]; unread: number; total: number };
type Own = { tenant_id: string; inboxes: OwnInbox[] };

// Stak's own messages to an account are in ordinary inboxes, read with a token of their own.
async function readOwn(): Promise<Own> {
  const { data: own } = await client.accounts.mintInboxToken();
  const { inbox } = createClient({ baseUrl: '', token: own.token });
  const { tenant_id } = own;
  const inboxes = await Promise.all(
    ownKeys.map(async inbox_key => {
      const { data } = await inbox.counts({ tenant_id, inbox_key, uid: 'me' });
      return { inbox_key, unread: data.unread, total: data.total };
    }),
  );
  return { tenant_id, inboxes };
}

export function Alerts() {
  const [isOpen, { open, close }] = useDisclosure(false);
  const isWanted = useWasTrue(isOpen);
  const { data, refetch } = useQuery({
    queryKey: ['own-inboxes'],
    queryFn: readOwn,
    refetchInterval: idleMs,
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
          data?.inboxes.some(inbox => inbox.total > 0) ? (
            <Anchor component="button" type="button" size="xs" onClick={open}>
              {unread > 0 ? 'Read them' : 'Read earlier ones'}
            </Anchor>
          ) : data ? (
            'Nothing to do'
          ) : (
            '…'
          )
        }
      />
      {data && isWanted && (
        <Suspense>
          <OwnInboxes {...data} isOpen={isOpen} onClose={leave} />
        </Suspense>
      )}
    </>
  );
}
