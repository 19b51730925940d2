import '@stak/inbox-react/styles.css';
import '../inbox/inbox.css';
import { Stack } from '@mantine/core';
import { Inbox, InboxProvider } from '@stak/inbox-react';
import { client } from '../../queries/api.ts';
import type { OwnInbox } from './alerts.tsx';

const titles = { alerts: 'Alerts', tasks: 'Reminders' };
const mint = async () => (await client.accounts.mintInboxToken()).data.token;

export default function OwnInboxes({ tenant_id, inboxes }: { tenant_id: string; inboxes: OwnInbox[] }) {
  return (
    <Stack className="console-inbox">
      {inboxes.map(({ inbox_key }) => (
        <InboxProvider key={inbox_key} baseUrl="" token={mint} tenant={tenant_id} inbox={inbox_key}>
          <Inbox title={titles[inbox_key]} />
        </InboxProvider>
      ))}
    </Stack>
  );
}
