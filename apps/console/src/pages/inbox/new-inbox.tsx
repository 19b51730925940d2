import { Button, Card, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Heading } from '../../components/display/section.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { type Named, NamedForm } from './named-form.tsx';
import { inboxesKey } from './queries.ts';

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
  const create = useSubmit(
    // Without the condition the call would change an existing inbox.
    async ({ key, title }: Named) => {
      const { data: inboxes } = await client.inbox.listInboxes({ tenant_id });
      if (inboxes.data.some(one => one.inbox_key === key))
        throw new Error(`There is an inbox with the key ${key} already. Choose another key.`);
      return client.inbox.writeInbox({ tenant_id, inbox_key: key, body: { title } });
    },
    {
      onSuccess: async ({ data }) => {
        await queries.invalidateQueries({ queryKey: inboxesKey(tenant_id) });
        close();
        onMade(data.inbox_key);
      },
    },
  );
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
        <Heading>This tenant’s first inbox</Heading>
        <Text c="dimmed" size="sm" mb="md">
          Messages are sent to an inbox, where each user of the tenant reads them. Most tenants need one.
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
