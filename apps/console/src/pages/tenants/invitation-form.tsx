import { Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { fieldComplaints } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../components/fields/submit-row.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { invitationsKey, type User } from '../../queries/tenants.ts';
import { type MadeInvitation, invite as sendInvitation } from './invite.ts';
import { NoPortal } from './no-portal.tsx';
import { RoleSelect } from './role.tsx';

type Props = { tenant_id: string; onMade: (made: MadeInvitation) => void };

const spans = [
  { value: '1', label: '1 day' },
  { value: '7', label: '7 days' },
  { value: '14', label: '14 days' },
];

export function InvitationForm({ tenant_id, onMade }: Props) {
  const [role, setRole] = useState<User['role']>('member');
  const [days, setDays] = useState('7');
  const invite = useSubmit(
    (text: (field: string) => string) => {
      const user_id = text('id').trim();
      const draft = {
        email: text('email').trim(),
        role,
        ttl_days: Number(days),
        ...(user_id && { user_id }),
      };
      return sendInvitation(tenant_id, draft);
    },
    { onSuccess: onMade, refreshes: [invitationsKey(tenant_id)] },
  );
  const complaints = fieldComplaints(invite.error);
  const submit = submitHandler(text => invite.mutate(text));
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {invite.error && <Failure error={invite.error} />}
        <NoPortal tenant_id={tenant_id} />
        <TextInput
          name="email"
          type="email"
          label="E-mail"
          placeholder="ann@example.com"
          required
          maxLength={254}
          error={complaints.email}
          data-autofocus
        />
        <SimpleGrid cols={2} spacing="sm">
          <RoleSelect role={role} onChange={setRole} />
          <Select
            label="Valid for"
            data={spans}
            value={days}
            allowDeselect={false}
            onChange={value => setDays(value ?? '7')}
          />
        </SimpleGrid>
        <TextInput
          name="id"
          label="ID"
          description="The new user’s id. You choose it, and it cannot be changed. Leave it empty to get one."
          maxLength={128}
          error={complaints.user_id}
        />
        <SubmitRow isBusy={invite.isPending}>Send the invitation</SubmitRow>
      </Stack>
    </form>
  );
}
