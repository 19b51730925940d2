import { ActionIcon, Group, Modal, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconArrowLeft, IconDownload, IconEraser, IconPencil, IconTrash } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { ActionMenu } from '../../../components/fields/action-menu.tsx';
import { saveFile } from '../../../components/fields/saved-file.ts';
import { useAction, useSubmit } from '../../../queries/actions.ts';
import { client } from '../../../queries/api.ts';
import { useUsers } from '../../../queries/tenants.ts';
import { formatDate, isolate } from '../../../text/format.ts';
import { RenameForm } from '../../tenants/rename-form.tsx';
import {
  type Conversation,
  type ConversationPath,
  conversationKey,
  conversationsKey,
  nameOfConversation,
  turnsKey,
} from '../queries.ts';
import { endTalk } from './talk.ts';

type Props = {
  conversationPath: ConversationPath;
  conversation: Conversation & { expires_at: string };
  onLeave: () => void;
};

export function ConversationHead({ conversationPath, conversation, onLeave }: Props) {
  const [isRenaming, { open, close }] = useDisclosure(false);
  const { user_id } = conversation;
  const user = useUsers(conversationPath.tenant_id).data?.find(one => one.user_id === user_id);
  const queries = useQueryClient();
  const rename = useSubmit(
    (title: string) => client.agents.renameConversation({ ...conversationPath, body: { title } }),
    {
      onSuccess: ({ data }) => {
        queries.setQueryData(conversationKey(conversationPath), data);
        close();
      },
      refreshes: [conversationsKey(conversationPath.tenant_id)],
    },
  );
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
          <Text size="xs" c="dimmed" lineClamp={2}>
            {user_id === null ? 'Without a user' : `With ${isolate(user?.display_name ?? user_id)}`}
            {`, kept until ${formatDate(conversation.expires_at)}`}
          </Text>
        </div>
      </Group>
      <Actions conversationPath={conversationPath} onLeave={onLeave} onRename={open} />
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

type ActionsProps = { conversationPath: ConversationPath; onLeave: () => void; onRename: () => void };

function Actions({ conversationPath, onLeave, onRename }: ActionsProps) {
  const queries = useQueryClient();
  const listed = { queryKey: conversationsKey(conversationPath.tenant_id) };
  const save = useAction(async () => {
    const { data } = await client.agents.exportConversation(conversationPath);
    saveFile(`${conversationPath.conversation_id}.ndjson`, data as Uint8Array<ArrayBuffer>);
  });
  const clear = useAction(() => client.agents.clearConversation(conversationPath), {
    onSuccess: () => endTalk(queries, conversationPath),
    refreshes: [turnsKey(conversationPath), conversationKey(conversationPath), listed.queryKey],
  });
  const remove = useAction(() => client.agents.deleteConversation(conversationPath), {
    onSuccess: onLeave,
    refreshes: [listed.queryKey],
  });
  return (
    <ActionMenu
      label="Actions of this conversation"
      size="lg"
      actions={[
        {
          label: 'Rename…',
          icon: IconPencil,
          needs: 'agents.renameConversation',
          onClick: onRename,
        },
        { label: 'Export', icon: IconDownload, onClick: () => save.mutate() },
        {
          label: 'Clear…',
          icon: IconEraser,
          needs: 'agents.clearConversation',
          question: {
            title: 'Clear this conversation?',
            text: 'All messages are deleted. The conversation stays and starts afresh.',
            button: 'Clear',
          },
          onClick: () => clear.mutate(),
        },
        {
          label: 'Delete…',
          icon: IconTrash,
          needs: 'agents.deleteConversation',
          question: {
            title: 'Delete this conversation?',
            text: 'It is deleted immediately, with all its messages.',
            button: 'Delete',
          },
          onClick: () => remove.mutate(),
        },
      ]}
    />
  );
}
