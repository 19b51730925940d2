import { Button, Card, Group, Modal, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { DataTable } from '../../components/display/data-table.tsx';
import { More, usePages } from '../../components/display/pages.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { ActionMenu } from '../../components/fields/action-menu.tsx';
import { useAction } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { type User, usersKey } from '../../queries/tenants.ts';
import { channelNames, channelTypes } from '../agents/channels/channel-kinds.ts';
import type { Go } from './address.ts';
import { Invitations } from './invitations.tsx';
import { RoleBadge } from './role.tsx';
import { downloadUser } from './user-download.ts';
import { UserForm } from './user-form.tsx';

type Props = { tenant_id: string; go: Go };

export function Users({ tenant_id, go }: Props) {
  const [edited, setEdited] = useState<User | 'new'>();
  const close = () => setEdited(undefined);
  const users = usePages([...usersKey(tenant_id), 'pages'], cursor =>
    client.tenants.listUsers({ tenant_id, limit: 50, ...cursor }),
  );
  return (
    <Stack>
      <Group justify="space-between">
        <Text c="dimmed" size="sm">
          The people who talk to this tenant’s agent.
        </Text>
        <Permitted to="tenants.createUser">
          <Button leftSection={<IconPlus size={16} />} onClick={() => setEdited('new')}>
            New user
          </Button>
        </Permitted>
      </Group>
      <Loaded query={users}>
        {rows => (
          <Card withBorder>
            <UserTable rows={rows} go={go} onEdit={setEdited} />
          </Card>
        )}
      </Loaded>
      <More of={users} label="More users" />
      <Invitations tenant_id={tenant_id} />
      <Modal
        opened={edited !== undefined}
        onClose={close}
        title={edited === 'new' ? 'New user' : 'Change a user'}
      >
        {edited && (
          <UserForm tenant_id={tenant_id} user={edited === 'new' ? undefined : edited} onDone={close} />
        )}
      </Modal>
    </Stack>
  );
}

type TableProps = { rows: User[]; go: Go; onEdit: (user: User) => void };

const UserTable = ({ rows, go, onEdit }: TableProps) => (
  <DataTable
    label="Users"
    rows={rows}
    keyOf={row => row.user_id}
    empty="There are no users yet. Add one and talk to the agent as that user."
    columns={[
      {
        label: 'Name',
        show: row => (
          <>
            <Text size="sm" fw={600}>
              {row.display_name}
            </Text>
            <Text size="xs" c="dimmed">
              {row.email ?? 'No e-mail'}
            </Text>
          </>
        ),
      },
      { label: 'ID', show: row => <span className="stak-mono">{row.user_id}</span> },
      {
        label: 'Role',
        show: row => <RoleBadge role={row.role} />,
      },
      {
        label: 'Known on',
        show: row =>
          channelTypes
            .filter(type => row.channel_identities[type])
            .map(type => channelNames[type])
            .join(', ') || '–',
      },
      { label: '', show: row => <UserMenu user={row} go={go} onEdit={() => onEdit(row)} /> },
    ]}
  />
);

function UserMenu({ user, go, onEdit }: { user: User; go: Go; onEdit: () => void }) {
  const { tenant_id, user_id, display_name } = user;
  const remove = useAction(() => client.tenants.deleteUser({ tenant_id, user_id }), {
    refreshes: [usersKey(tenant_id)],
  });
  const download = useAction(() => downloadUser(user));
  return (
    <ActionMenu
      label={`Actions of ${display_name}`}
      actions={[
        { label: 'Conversations', onClick: () => go({ user: user_id }) },
        { label: 'Memory', onClick: () => go({ tab: 'memory', user: user_id }) },
        {
          label: 'Mint a token',
          needs: 'tenants.mintToken',
          onClick: () => go({ tab: 'tokens', user: user_id }),
        },
        { label: 'Change…', needs: 'tenants.updateUser', onClick: onEdit },
        { label: 'Download everything', onClick: () => download.mutate() },
        {
          label: 'Remove…',
          needs: 'tenants.deleteUser',
          question: {
            title: `Remove ${display_name}?`,
            text: 'The user is removed and can no longer sign in. Their conversations and messages stay.',
            button: 'Remove',
          },
          onClick: () => remove.mutate(),
        },
      ]}
    />
  );
}
