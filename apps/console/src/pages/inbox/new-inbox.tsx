import { Button, Card, Group, Modal, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { client } from '../../api.ts';
import { Failure } from '../../failure.tsx';
import { inboxesKey, keyOf, tenantsKey } from './place.ts';

type Named = { key: string; title: string };

export function NewInbox({
  tenant_id,
  isFirst = false,
  onMade,
}: {
  tenant_id: string;
  isFirst?: boolean;
  onMade: (inbox_key: string) => void;
}) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const queries = useQueryClient();
  const create = useMutation({
    // The same call changes an inbox that is there, which nobody means who makes a new one.
    mutationFn: async ({ key, title }: Named) => {
      const { data: inboxes } = await client.inbox.listInboxes({ tenant_id });
      if (inboxes.data.some(one => one.inbox_key === key))
        throw new Error(`There is an inbox with the key ${key} already. Choose another key.`);
      return client.inbox.writeInbox({ tenant_id, inbox_key: key, body: { title } });
    },
    onSuccess: async ({ data }) => {
      await queries.invalidateQueries({ queryKey: inboxesKey(tenant_id) });
      close();
      onMade(data.inbox_key);
    },
  });
  const form = (
    <NamedForm
      titleLabel="Title"
      placeholder="News"
      button="Create inbox"
      isBusy={create.isPending}
      error={create.error}
      onSubmit={create.mutate}
    />
  );
  if (isFirst)
    return (
      <Card withBorder maw={560}>
        <Title order={3} size="h4">
          The first inbox of this tenant
        </Title>
        <Text c="dimmed" size="sm" mb="md">
          Messages are sent to an inbox, and each user of the tenant reads them there. Most need one.
        </Text>
        {form}
      </Card>
    );
  return (
    <>
      <Button variant="default" onClick={open}>
        New inbox
      </Button>
      <Modal opened={isOpen} onClose={close} title="New inbox" closeButtonProps={{ 'aria-label': 'Close' }}>
        {form}
      </Modal>
    </>
  );
}

export function NewTenant() {
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: ({ key, title }: Named) =>
      client.tenants.create({ body: { tenant_id: key, name: title, status: 'active' } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: tenantsKey }),
  });
  return (
    <Card withBorder maw={560}>
      <Title order={3} size="h4">
        Your first tenant
      </Title>
      <Text c="dimmed" size="sm" mb="md">
        A tenant is one of your customers. Inboxes and users belong to it, and nobody else sees them.
      </Text>
      <NamedForm
        titleLabel="Name"
        placeholder="Demo shop"
        button="Create tenant"
        isBusy={create.isPending}
        error={create.error}
        onSubmit={create.mutate}
      />
    </Card>
  );
}

function NamedForm({
  titleLabel,
  placeholder,
  button,
  isBusy,
  error,
  onSubmit,
}: {
  titleLabel: string;
  placeholder: string;
  button: string;
  isBusy: boolean;
  error: unknown;
  onSubmit: (named: Named) => void;
}) {
  const [title, setTitle] = useState('');
  const [ownKey, setOwnKey] = useState<string>();
  const key = ownKey ?? keyOf(title);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit({ key, title });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {error !== null && <Failure error={error} />}
        <TextInput
          label={titleLabel}
          placeholder={placeholder}
          required
          maxLength={100}
          value={title}
          onChange={event => setTitle(event.currentTarget.value)}
        />
        <TextInput
          label="Key"
          description="Stands in addresses and stays as it is."
          required
          maxLength={63}
          value={key}
          onChange={event => setOwnKey(event.currentTarget.value)}
        />
        <Group>
          <Button type="submit" loading={isBusy}>
            {button}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
