import { Badge, Button, Card, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { DataTable } from '../../components/display/data-table.tsx';
import { More } from '../../components/display/pages.tsx';
import { Heading } from '../../components/display/section.tsx';
import { fieldComplaints } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { ActionMenu } from '../../components/fields/action-menu.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { useAction, useSubmit } from '../../queries/actions.ts';
import { useRows } from '../../queries/answers.ts';
import { client, session } from '../../queries/api.ts';
import { useMe, useMembers, useOrganisation, useOrganisations } from '../../queries/organisation.ts';
import { permissionsKey, useMay } from '../../queries/permissions.ts';
import { choicesOf, withCapital } from '../../text/capital.ts';
import { counted, formatNumber, formatTime } from '../../text/format.ts';
import { OrganisationProvider } from './organisation-provider.tsx';
import { isWrongPassword, OwnPassword } from './own-password.tsx';
import { useStepUp } from './step-up.tsx';

type Organisation = NonNullable<ReturnType<typeof useOrganisation>['data']>;
type Member = NonNullable<ReturnType<typeof useMembers>['data']>[number];
type Role = Member['role'];

const say = (message: string) => notifications.show({ message });

function useShowAgain() {
  const queries = useQueryClient();
  const keys = ['members', 'invitations', 'organisation', 'organisations', ...permissionsKey];
  return () => Promise.all(keys.map(key => queries.invalidateQueries({ queryKey: [key] })));
}

// Runs an action and reports the result.
function useChange<V>(change: (variables: V) => Promise<unknown>, done: string) {
  const showAgain = useShowAgain();
  return useAction(change, {
    onSuccess: async () => {
      say(done);
      await showAgain();
    },
  });
}

export function Members() {
  const organisation = useOrganisation();
  return (
    <Loaded query={organisation}>
      {found => (
        <Stack>
          <Card withBorder>
            <Stack>
              <Seats {...found} />
              <Permitted to="accounts.invite">
                <InviteForm manages={found.manages} />
              </Permitted>
              <MemberList {...found} />
            </Stack>
          </Card>
          <Permitted to="accounts.listInvitations">
            <Pending />
          </Permitted>
          <Permitted to="accounts.renameOrganisation">
            <Rename key={found.name} name={found.name} />
          </Permitted>
          <Permitted to="accounts.changeOrganisationProvider">
            <OrganisationProvider />
          </Permitted>
        </Stack>
      )}
    </Loaded>
  );
}

function Seats({ name, members, seats }: Organisation) {
  return (
    <Group justify="space-between">
      <Heading className="stak-break">{name}</Heading>
      <Text size="sm" c="dimmed">
        {seats === null
          ? counted(members, 'member')
          : `${formatNumber(members)} of ${counted(seats, 'seat')}`}
      </Text>
    </Group>
  );
}

function InviteForm({ manages }: { manages: readonly Role[] }) {
  const offered = manages.filter(role => role !== 'owner');
  const [role, setRole] = useState<Exclude<Role, 'owner'>>('member');
  const { guard, dialog } = useStepUp();
  const invite = useSubmit(
    (email: string) => guard(() => client.accounts.invite({ body: { email, role } })),
    {
      onSuccess: (_, email) => say(`An invitation is on its way to ${email}.`),
      refreshes: [['invitations']],
    },
  );
  const complaint = fieldComplaints(invite.error).email;
  const submit = submitHandler((text, form) => {
    const email = text('email');
    invite.mutate(email, { onSuccess: () => form.reset() });
  });
  return (
    <form onSubmit={submit} aria-label="Invite a member">
      {dialog}
      <Stack gap="xs">
        {invite.error !== null && complaint === undefined && <Failure error={invite.error} />}
        <Group align="start">
          <TextInput
            name="email"
            type="email"
            label="Invite by e-mail"
            required
            error={complaint}
            w={{ base: '100%', xs: 300 }}
          />
          <Select
            label="Role"
            data={choicesOf(offered)}
            value={role}
            allowDeselect={false}
            onChange={value => setRole((value ?? 'member') as typeof role)}
            w={130}
          />
          <Button type="submit" mt={{ base: 0, xs: 25 }} loading={invite.isPending}>
            Send the invitation
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Rename({ name }: { name: string }) {
  const rename = useChange(
    (next: string) => client.accounts.renameOrganisation({ body: { name: next } }),
    'The organisation is renamed.',
  );
  const submit = submitHandler(text => rename.mutate(text('name')));
  return (
    <Card withBorder component="form" onSubmit={submit} aria-label="Rename the organisation">
      <Heading mb="sm">Organisation</Heading>
      <Group align="start">
        <TextInput
          name="name"
          label="Name of the organisation"
          w={{ base: '100%', xs: 300 }}
          required
          maxLength={100}
          defaultValue={name}
          error={fieldComplaints(rename.error).name}
        />
        <Button type="submit" variant="default" mt={{ base: 0, xs: 25 }} loading={rename.isPending}>
          Rename
        </Button>
      </Group>
    </Card>
  );
}

function MemberList({ accountId, manages }: Organisation) {
  const members = useMembers();
  const { data: me } = useMe();
  const { data: organisations = [] } = useOrganisations();
  const [heir, setHeir] = useState<Member>();
  const may = useMay();
  const { guard, dialog } = useStepUp();
  const change = useChange(
    ({ userId, role }: Pick<Member, 'userId' | 'role'>) =>
      guard(() => client.accounts.changeMemberRole({ userId, body: { role } })),
    'The role is changed.',
  );
  const remove = useChange(
    (userId: string) => client.accounts.removeMember({ userId }),
    'They are removed, and their sessions have ended.',
  );
  const other = organisations.find(organisation => organisation.accountId !== accountId)?.accountId;
  const leave = useAction(() => session.leave(accountId, other));
  // If not all members are loaded, the server decides who may leave.
  const isLastOwner = !members.hasNextPage && members.data?.filter(one => one.role === 'owner').length === 1;
  const nameOf = ({ name, email, userId }: Member) => name ?? email ?? userId;
  const actionsOf = (row: Member) => {
    const name = nameOf(row);
    if (row.userId === me?.userId && row.role === 'owner' && isLastOwner) return [];
    if (row.userId === me?.userId)
      return [
        {
          label: 'Leave',
          question: {
            title: 'Leave the organisation?',
            text: `Your sessions in it end, and the keys you created for it stop working.${other === undefined ? ' Sign in again: you get an empty organisation of your own.' : ''}`,
            button: 'Leave',
          },
          onClick: () => leave.mutate(),
        },
      ];
    if (!manages.includes(row.role)) return [];
    return [
      {
        label: 'Transfer ownership',
        needs: 'accounts.transferOwnership' as const,
        onClick: () => setHeir(row),
      },
      {
        label: 'Remove',
        needs: 'accounts.removeMember' as const,
        question: {
          title: `Remove ${name}?`,
          text: 'Their sessions in this organisation end immediately, and the keys they created for it stop working.',
          button: 'Remove',
        },
        onClick: () => remove.mutate(row.userId),
      },
    ];
  };
  return (
    <Loaded query={members}>
      {rows => (
        <>
          {dialog}
          {heir && <Transfer to={heir} name={nameOf(heir)} onClose={() => setHeir(undefined)} />}
          <DataTable
            label="Members"
            rows={rows}
            keyOf={row => row.userId}
            empty="There are no members."
            columns={[
              { label: 'Name', show: row => row.name ?? row.userId },
              { label: 'E-mail', show: row => <span className="stak-break">{row.email ?? '–'}</span> },
              {
                label: 'Role',
                show: row =>
                  may('accounts.changeMemberRole') &&
                  manages.includes(row.role) &&
                  row.userId !== me?.userId ? (
                    <Select
                      aria-label={`Role of ${nameOf(row)}`}
                      size="xs"
                      w={120}
                      data={choicesOf(manages)}
                      value={row.role}
                      allowDeselect={false}
                      onChange={role => role && change.mutate({ userId: row.userId, role: role as Role })}
                    />
                  ) : (
                    <Badge variant="light">{withCapital(row.role)}</Badge>
                  ),
              },
              { label: 'Since', show: row => formatTime(row.joinedAt) },
              {
                label: '',
                show: row => {
                  const actions = actionsOf(row);
                  return (
                    actions.length > 0 && (
                      <ActionMenu label={`Actions for ${nameOf(row)}`} actions={actions} />
                    )
                  );
                },
              },
            ]}
          />
          <More of={members} label="More members" />
        </>
      )}
    </Loaded>
  );
}

type TransferProps = { to: Member; name: string; onClose: () => void };

function Transfer({ to, name, onClose }: TransferProps) {
  const { data: me } = useMe();
  const { guard, dialog } = useStepUp();
  const showAgain = useShowAgain();
  const transfer = useSubmit(
    (password: string) => {
      const body = me?.hasPassword ? { password } : {};
      return guard(() => client.accounts.transferOwnership({ userId: to.userId, body }));
    },
    {
      onSuccess: async () => {
        await showAgain();
        onClose();
      },
    },
  );
  const submit = submitHandler(text => transfer.mutate(text('password')));
  return (
    <form onSubmit={submit} aria-label="Transfer the organisation">
      <Stack gap="xs">
        <Text size="sm">
          <b>{name}</b> becomes an owner, and you an admin.
        </Text>
        {transfer.error !== null && !isWrongPassword(transfer.error) && <Failure error={transfer.error} />}
        <Group align="start">
          {me?.hasPassword && <OwnPassword w={240} error={transfer.error} />}
          <Button type="submit" color="red" mt={{ base: 0, xs: 25 }} loading={transfer.isPending}>
            Transfer
          </Button>
          <Button variant="default" mt={{ base: 0, xs: 25 }} onClick={onClose}>
            Cancel
          </Button>
        </Group>
      </Stack>
      {dialog}
    </form>
  );
}

function Pending() {
  const invitations = useRows(['invitations'], () => client.accounts.listInvitations());
  const resend = useChange(
    (invitationId: string) => client.accounts.resendInvitation({ invitationId }),
    'Another e-mail is on its way. The earlier link no longer works.',
  );
  const withdraw = useChange(
    (invitationId: string) => client.accounts.withdrawInvitation({ invitationId }),
    'The invitation is withdrawn.',
  );
  return (
    <Card withBorder component="section" aria-label="Pending invitations">
      <Heading mb="sm">Pending invitations</Heading>
      <Loaded query={invitations}>
        {rows => (
          <DataTable
            label="Pending invitations"
            rows={rows}
            keyOf={row => row.invitationId}
            empty="There are no open invitations."
            columns={[
              { label: 'E-mail', show: row => <span className="stak-break">{row.email}</span> },
              { label: 'Role', show: row => withCapital(row.role) },
              { label: 'Sent', show: row => formatTime(row.sentAt) },
              { label: 'Expires', show: row => formatTime(row.expiresAt) },
              {
                label: '',
                show: row => (
                  <ActionMenu
                    label={`Actions for the invitation of ${row.email}`}
                    actions={[
                      {
                        label: 'Send again',
                        needs: 'accounts.resendInvitation',
                        onClick: () => resend.mutate(row.invitationId),
                      },
                      {
                        label: 'Withdraw',
                        needs: 'accounts.withdrawInvitation',
                        question: {
                          title: `Withdraw the invitation of ${row.email}?`,
                          text: 'The link in their e-mail stops working. You can invite them again.',
                          button: 'Withdraw',
                        },
                        onClick: () => withdraw.mutate(row.invitationId),
                      },
                    ]}
                  />
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
