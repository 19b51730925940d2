import { Card, Text } from '@mantine/core';
import { Heading } from '../../components/display/section.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { usersKey } from '../../queries/tenants.ts';
import { type Named, NamedForm } from './named-form.tsx';
import { TenantForm } from './tenant-form.tsx';

export function NewTenant() {
  return (
    <Card withBorder maw={560}>
      <Heading>Your first tenant</Heading>
      <Text c="dimmed" size="sm" mb="md">
        A tenant is one of your customers. Its inboxes and users are visible to nobody else.
      </Text>
      <TenantForm />
    </Card>
  );
}

export function NewUser({ tenant_id }: { tenant_id: string }) {
  const create = useSubmit(
    ({ key, title }: Named) =>
      client.tenants.createUser({ tenant_id, body: { user_id: key, display_name: title } }),
    { refreshes: [usersKey(tenant_id)] },
  );
  return (
    <Card withBorder>
      <Heading>No users yet</Heading>
      <Text c="dimmed" size="sm" mb="md">
        Add a user of this tenant to see their inbox here as they see it. Your backend does the same when
        somebody signs up.
      </Text>
      <NamedForm
        titleLabel="Name"
        placeholder="Ann"
        button="Add user"
        isBusy={create.isPending}
        error={create.error}
        onSubmit={create.mutate}
      />
    </Card>
  );
}
