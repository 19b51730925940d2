import { SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldComplaints } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../components/fields/submit-row.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { type User, usersKey } from '../../queries/tenants.ts';
import { channelNames, channelTypes } from '../agents/channels/channel-kinds.ts';
import { RoleSelect } from './role.tsx';

type Props = { tenant_id: string; user: User | undefined; onDone: () => void };

// Loads the current user, because the list may be stale, and saves only if nobody else has changed it.
export function UserForm({ user, ...props }: Props) {
  const read = useQuery({
    queryKey: ['user', props.tenant_id, user?.user_id],
    queryFn: () => client.tenants.getUser({ tenant_id: props.tenant_id, user_id: user!.user_id }),
    enabled: user !== undefined,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (user === undefined) return <Fields {...props} user={undefined} etag="" />;
  return (
    <Loaded query={read}>{({ data, etag }) => <Fields {...props} user={data} etag={etag ?? '*'} />}</Loaded>
  );
}

function Fields({ tenant_id, user, etag, onDone }: Props & { etag: string }) {
  const [role, setRole] = useState<User['role']>(user?.role ?? 'member');
  const save = useSubmit(
    async (read: (field: string) => string): Promise<unknown> => {
      const text = (name: string) => read(name).trim();
      const email = text('email');
      const said = channelTypes.map(type => [type, text(type)] as const);
      const body = { display_name: text('name'), role };
      if (user) {
        const channel_identities = Object.fromEntries(said.map(([type, id]) => [type, id || null]));
        const patch = { ...body, email: email || null, channel_identities };
        return client.tenants.updateUser(
          { tenant_id, user_id: user.user_id, body: patch },
          { ifMatch: etag },
        );
      }
      const channel_identities = Object.fromEntries(said.filter(([, id]) => id !== ''));
      const user_id = text('id');
      const draft = { ...body, channel_identities, ...(email && { email }), ...(user_id && { user_id }) };
      return client.tenants.createUser({ tenant_id, body: draft });
    },
    { onSuccess: onDone, refreshes: [usersKey(tenant_id)] },
  );
  const complaints = fieldComplaints(save.error);
  const submit = submitHandler(text => save.mutate(text));
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {save.error && <Failure error={save.error} />}
        <TextInput
          name="name"
          label="Name"
          required
          maxLength={200}
          defaultValue={user?.display_name}
          error={complaints.display_name}
          data-autofocus
        />
        {!user && (
          <TextInput
            name="id"
            label="ID"
            description="You choose it, and it cannot be changed. Leave it empty to get one."
            maxLength={128}
            error={complaints.user_id}
          />
        )}
        <TextInput
          name="email"
          type="email"
          label="E-mail"
          maxLength={254}
          defaultValue={user?.email}
          error={complaints.email}
        />
        <RoleSelect role={role} onChange={setRole} />
        <Text size="sm" c="dimmed">
          Their ids on channels, so that the agent knows who is speaking:
        </Text>
        <SimpleGrid cols={2} spacing="xs">
          {channelTypes.map(type => (
            <TextInput
              key={type}
              name={type}
              label={channelNames[type]}
              placeholder="Id there"
              maxLength={200}
              defaultValue={user?.channel_identities[type]}
            />
          ))}
        </SimpleGrid>
        {complaints.channel_identities && (
          <Text size="xs" c="var(--mantine-color-error)">
            {complaints.channel_identities}
          </Text>
        )}
        <SubmitRow isBusy={save.isPending}>{user ? 'Save' : 'Create user'}</SubmitRow>
      </Stack>
    </form>
  );
}
