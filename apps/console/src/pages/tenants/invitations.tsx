import { Button, Card, Group, Modal, Text } from '@mantine/core';
import { IconMail } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { DataTable } from '../../components/display/data-table.tsx';
import { More, usePages } from '../../components/display/pages.tsx';
import { Heading } from '../../components/display/section.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { ActionMenu } from '../../components/fields/action-menu.tsx';
import { useAction } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { type Invitation, invitationsKey } from '../../queries/tenants.ts';
import { formatAgo, formatTime } from '../../text/format.ts';
import { InvitationForm } from './invitation-form.tsx';
import { InvitationLink } from './invitation-link.tsx';
import { invite, type MadeInvitation } from './invite.ts';
import { RoleBadge } from './role.tsx';

// The invitations that nobody has accepted yet.
export function Invitations({ tenant_id }: { tenant_id: string }) {
  const [dialog, setDialog] = useState<'form' | MadeInvitation>();
  const close = () => setDialog(undefined);
  const invitations = usePages(invitationsKey(tenant_id), cursor =>
    client.tenants.listInvitations({ tenant_id, limit: 50, ...cursor }),
  );
  return (
    <Card withBorder component="section" aria-label="Invitations">
      <Group justify="space-between" mb="sm">
        <div>
          <Heading>Invitations</Heading>
          <Text c="dimmed" size="sm">
            Anyone who opens an invitation’s link becomes a user.
          </Text>
        </div>
        <Permitted to="tenants.createInvitation">
          <Button variant="default" leftSection={<IconMail size={16} />} onClick={() => setDialog('form')}>
            Invite a user
          </Button>
        </Permitted>
      </Group>
      <Loaded query={invitations}>{rows => <InvitationTable rows={rows} onMade={setDialog} />}</Loaded>
      <More of={invitations} label="More invitations" />
      <Modal
        opened={dialog !== undefined}
        onClose={close}
        title="Invite a user"
        closeOnClickOutside={false} // it may show a link that is shown only once
      >
        {dialog === 'form' && <InvitationForm tenant_id={tenant_id} onMade={setDialog} />}
        {typeof dialog === 'object' && <InvitationLink invitation={dialog} onDone={close} />}
      </Modal>
    </Card>
  );
}

type TableProps = { rows: Invitation[]; onMade: (made: MadeInvitation) => void };

const InvitationTable = ({ rows, onMade }: TableProps) => (
  <DataTable
    label="Invitations"
    rows={rows}
    keyOf={row => row.invitation_id}
    minWidth={600}
    empty="There are no open invitations."
    columns={[
      {
        label: 'E-mail',
        show: row => (
          <Text size="sm" fw={600} className="stak-break">
            {row.email}
          </Text>
        ),
      },
      {
        label: 'Role',
        show: row => <RoleBadge role={row.role} />,
      },
      {
        label: 'Invited',
        show: row => <span title={formatTime(row.created_at)}>{formatAgo(row.created_at)}</span>,
      },
      {
        label: 'Expires',
        show: row => <span title={formatTime(row.expires_at)}>{formatAgo(row.expires_at)}</span>,
      },
      { label: '', show: row => <InvitationMenu invitation={row} onMade={onMade} /> },
    ]}
  />
);

type MenuProps = { invitation: Invitation; onMade: (made: MadeInvitation) => void };

function InvitationMenu({ invitation, onMade }: MenuProps) {
  const { tenant_id, invitation_id, email, role, user_id } = invitation;
  const queries = useQueryClient();
  const onSettled = () => queries.invalidateQueries({ queryKey: invitationsKey(tenant_id) });
  const renew = useAction(() => invite(tenant_id, { email, role, user_id }), {
    onSuccess: onMade,
    onSettled,
  });
  const revoke = useAction(() => client.tenants.revokeInvitation({ tenant_id, invitation_id }), {
    onSettled,
  });
  return (
    <ActionMenu
      label={`Actions of the invitation of ${email}`}
      actions={[
        {
          label: 'New link…',
          needs: 'tenants.createInvitation',
          question: {
            title: `A new link for ${email}?`,
            text: 'The link you sent before stops working immediately. The new one is valid for seven days.',
            button: 'Create a new link',
          },
          onClick: () => renew.mutate(),
        },
        {
          label: 'Revoke…',
          needs: 'tenants.revokeInvitation',
          question: {
            title: `Revoke the invitation of ${email}?`,
            text: 'The link that they have stops working.',
            button: 'Revoke',
          },
          onClick: () => revoke.mutate(),
        },
      ]}
    />
  );
}
