import { ActionIcon, Group, Menu, Modal, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconArrowLeft,
  IconDots,
  IconDownload,
  IconEraser,
  IconPencil,
  IconTrash,
} from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client } from '../../api.ts';
import { complain } from '../../complaint.ts';
import { formatTime } from '../../format.ts';
import { useUsers } from '../inbox/place.ts';
import { Confirm } from './confirm.tsx';
import {
  type Conversation,
  conversationKey,
  conversationsKey,
  nameOfConversation,
  type Place,
  turnsKey,
} from './place.ts';
import { RenameForm } from './rename-form.tsx';
import { saveFile } from './saved-file.ts';
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
            {user_id === null ? 'With nobody in particular' : `With ${user?.display_name ?? user_id}`}
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
    <Confirm
      title="Clear this conversation?"
      text="Everything that was said is gone; the conversation stays, and begins anew."
      button="Clear"
      onConfirm={() => clear.mutate()}
    >
      {askClear => (
        <Confirm
          title="Delete this conversation?"
          text="It is gone at once, with everything that was said."
          button="Delete"
          onConfirm={() => remove.mutate()}
        >
          {askDelete => (
            <Menu position="bottom-end">
              <Menu.Target>
                <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Actions of this conversation">
                  <IconDots size={18} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item leftSection={<IconPencil size={16} />} onClick={onRename}>
                  Rename…
                </Menu.Item>
                <Menu.Item leftSection={<IconDownload size={16} />} onClick={() => save.mutate()}>
                  Export
                </Menu.Item>
                <Menu.Item leftSection={<IconEraser size={16} />} onClick={askClear}>
                  Clear…
                </Menu.Item>
                <Menu.Item leftSection={<IconTrash size={16} />} onClick={askDelete}>
                  Delete…
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          )}
        </Confirm>
      )}
    </Confirm>
  );
}
