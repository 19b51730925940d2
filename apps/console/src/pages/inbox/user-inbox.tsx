import { Badge, Group, Select, Stack, Text } from '@mantine/core';
import { Bell, Inbox, InboxProvider, type Message, useConnection } from '@stak/inbox-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Heading } from '../../components/display/section.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { offerUndo } from '../../components/feedback/undo.tsx';
import { useUsers } from '../../queries/tenants.ts';
import { NewUser } from './first-steps.tsx';
import { createUserTokens, type InboxPath } from './queries.ts';

// A user's inbox as they see it, with their own token and the components that an app would use.
export function UserInbox({
  inboxPath,
  user,
  onUser,
}: {
  inboxPath: InboxPath;
  user: string | undefined;
  onUser: (user: string) => void;
}) {
  const users = useUsers(inboxPath.tenant_id);
  return (
    <Loaded query={users}>
      {all => {
        const chosen = all.find(one => one.user_id === user) ?? all[0];
        if (!chosen)
          return (
            <Permitted
              to="tenants.createUser"
              otherwise={<Text c="dimmed">This tenant has no user yet.</Text>}
            >
              <NewUser tenant_id={inboxPath.tenant_id} />
            </Permitted>
          );
        return (
          <Stack gap="sm">
            <Select
              label="As this user sees it"
              data={all.map(one => ({ value: one.user_id, label: `${one.display_name} (${one.user_id})` }))}
              value={chosen.user_id}
              allowDeselect={false}
              searchable
              onChange={value => value !== null && onUser(value)}
            />
            <Permitted
              to="tenants.mintToken"
              otherwise={<Text c="dimmed">Your role does not let you look into the inboxes of users.</Text>}
            >
              <OneUser
                key={JSON.stringify([inboxPath, chosen.user_id])} // each is a connection of its own
                inboxPath={inboxPath}
                user_id={chosen.user_id}
                name={chosen.display_name}
              />
            </Permitted>
          </Stack>
        );
      }}
    </Loaded>
  );
}

function OneUser({ inboxPath, user_id, name }: { inboxPath: InboxPath; user_id: string; name: string }) {
  const { tenant_id, inbox_key } = inboxPath;
  const queries = useQueryClient();
  const [token] = useState(() => createUserTokens(queries, tenant_id, user_id));
  return (
    <InboxProvider baseUrl="" token={token} tenant={tenant_id} inbox={inbox_key}>
      <div className="console-inbox">
        <Group justify="space-between" mb="xs">
          <Group gap="xs">
            <Heading>{name}</Heading>
            <LiveBadge />
          </Group>
          <Bell>
            <Inbox marksSeen={false} title="Newest" onArchive={offerUnarchive} />
          </Bell>
        </Group>
        {/* Looking over a user's shoulder must not say that the user has seen it. */}
        <Inbox marksSeen={false} title={`Inbox of ${name}`} onArchive={offerUnarchive} />
      </div>
    </InboxProvider>
  );
}

const offerUnarchive = ({ message: { title } }: Message, undo: () => void) =>
  offerUndo(`${title} is archived.`, undo);

const words = {
  connecting: { label: 'Connecting', color: 'gray' },
  live: { label: 'Live', color: 'teal' },
  lost: { label: 'Connection lost', color: 'orange' },
  refused: { label: 'Refused', color: 'red' },
} as const;

function LiveBadge() {
  const { label, color } = words[useConnection().state];
  return (
    <Badge variant="dot" color={color}>
      {label}
    </Badge>
  );
}
