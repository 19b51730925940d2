import { ActionIcon, Group, Modal, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconArrowLeft, IconDownload, IconEraser, IconPencil, IconTrash } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ActionMenu } from '../../../components/action-menu.tsx';
import { complain } from '../../../components/complaint.ts';
import { saveFile } from '../../../components/saved-file.ts';
import { client } from '../../../queries/api.ts';
import { useUsers } from '../../../queries/tenants.ts';
import { formatTime, isolate } from '../../../text/format.ts';
import { RenameForm } from '../../tenants/rename-form.tsx';
import {
  type Conversation,
  conversationKey,
  conversationsKey,
  nameOfConversation,
  type Place,
  turnsKey,
} from '../queries.ts';
import { endTalk } from './talk.ts';

type Props = {
  place: Place;
  conversation: Conversation & { expires_at: string };
  onLeave: () => void;
};

export function ConversationHead({ place, conversation, onLeave }: Props) {
  const [isRenaming, { open, close }] = useDisclosure(false);
  const { user_id } = conversation;
  const user = useUsers(place.tenant_id).data?.find(one => one.user_id === user_id);
  const queries = useQueryClient();
  const rename = useMutation({
    mutationFn: (title: string) => client.agents.renameConversation({ ...place, body: { title } }),
    onSuccess: ({ data }) => {
      queries.setQueryData(conversationKey(place), data);
      close();
      return queries.invalidateQueries({ queryKey: conversationsKey(place.tenant_id) });
    },
  });
  return (
    <Group justify="space-between" wrap="nowrap" className="agents-head">
      <Group gap="xs" wrap="nowrap" miw={0}>
        <ActionIcon
          variant="subtle"
          color="gray"
          hiddenFrom="sm"
          aria-label="All conversations"
          onClick={onLeave}
        >
          <IconArrowLeft size={18} />
        </ActionIcon>
        <div className="agents-name">
          <Title order={3} size="h5" lineClamp={1}>
            {nameOfConversation(conversation)}
          </Title>
          <Text size="xs" c="dimmed" truncate>
            {user_id === null
              ? 'With nobody in particular'
              : `With ${isolate(user?.display_name ?? user_id)}`}
            {`, kept until ${formatTime(conversation.expires_at)}`}
          </Text>
        </div>
      </Group>
      <Actions place={place} onLeave={onLeave} onRename={open} />
      <Modal opened={isRenaming} onClose={close} title="Rename this conversation">
        <RenameForm
          label="Title"
          name={conversation.title ?? ''}
          isBusy={rename.isPending}
          error={rename.error}
          onRename={rename.mutate}
        />
      </Modal>
    </Group>
  );
}

type ActionsProps = { place: Place; onLeave: () => void; onRename: () => void };

function Actions({ place, onLeave, onRename }: ActionsProps) {
  const queries = useQueryClient();
  const listed = { queryKey: conversationsKey(place.tenant_id) };
  const save = useMutation({
    mutationFn: async () => {
      const { data } = await client.agents.exportConversation(place);
      saveFile(`${place.conversation_id}.ndjson`, data as Uint8Array<ArrayBuffer>);
    },
    onError: complain,
  });
  const clear = useMutation({
    mutationFn: () => client.agents.clearConversation(place),
    onSuccess: async () => {
      endTalk(queries, place);
      await queries.invalidateQueries({ queryKey: turnsKey(place) });
      await queries.invalidateQueries({ queryKey: conversationKey(place) });
      await queries.invalidateQueries(listed);
    },
    onError: complain,
  });
  const remove = useMutation({
    mutationFn: () => client.agents.deleteConversation(place),
    onSuccess: () => {
      onLeave();
      return queries.invalidateQueries(listed);
    },
    onError: complain,
  });
  return (
    <ActionMenu
      label="Actions of this conversation"
      size="lg"
      actions={[
        { label: 'Rename…', icon: IconPencil, onClick: onRename },
        { label: 'Export', icon: IconDownload, onClick: () => save.mutate() },
        {
          label: 'Clear…',
          icon: IconEraser,
          question: {
            title: 'Clear this conversation?',
            text: 'Everything that was said is gone; the conversation stays, and begins anew.',
            button: 'Clear',
          },
          onClick: () => clear.mutate(),
        },
        {
          label: 'Delete…',
          icon: IconTrash,
          question: {
            title: 'Delete this conversation?',
            text: 'It is gone at once, with everything that was said.',
            button: 'Delete',
          },
          onClick: () => remove.mutate(),
        },
      ]}
    />
  );
}
