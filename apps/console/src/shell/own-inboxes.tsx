import '@stak/inbox-react/styles.css';
import '../pages/inbox/inbox.css';
import { Drawer, Stack } from '@mantine/core';
import { Inbox, InboxProvider } from '@stak/inbox-react';
import { type OwnInbox, ownInboxToken } from './alerts.tsx';

const titles = { alerts: 'Alerts', tasks: 'Reminders' };
const mint = async () => (await ownInboxToken()).token;

type Props = { tenant_id: string; inboxes: OwnInbox[]; isOpen: boolean; onClose: () => void };

export default function OwnInboxes({ tenant_id, inboxes, isOpen, onClose }: Props) {
  return (
    <Drawer opened={isOpen} onClose={onClose} position="right" size="lg" title="Alerts and reminders">
      <Stack className="console-inbox">
        {inboxes.map(({ inbox_key }) => (
          <InboxProvider key={inbox_key} baseUrl="" token={mint} tenant={tenant_id} inbox={inbox_key}>
            <Inbox title={titles[inbox_key]} />
          </InboxProvider>
        ))}
      </Stack>
    </Drawer>
  );
}
