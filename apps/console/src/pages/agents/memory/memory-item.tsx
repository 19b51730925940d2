import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Permitted } from '../../../components/feedback/permitted.tsx';
import { TextLink } from '../../../components/feedback/text-link.tsx';
import { Confirm } from '../../../components/fields/confirm.tsx';
import { submitHandler } from '../../../components/submit-handler.ts';
import { useAction } from '../../../queries/actions.ts';
import { client } from '../../../queries/api.ts';
import { formatAgo, formatTime } from '../../../text/format.ts';
import { type Memory, memoryKey } from '../queries.ts';
import { changeFact } from './fact-change.ts';

type Fact = Memory['key_facts'][number];
type Props = { tenant_id: string; user_id: string; item: Memory };

// The memory of one conversation.
export function MemoryItem({ tenant_id, user_id, item }: Props) {
  const queries = useQueryClient();
  const done = (message: string) => {
    notifications.show({ message });
    return queries.invalidateQueries({ queryKey: memoryKey(tenant_id, user_id) });
  };
  const conversationPath = { tenant_id, user_id, session_id: item.session_id };
  const change = useAction(
    ({ fact_id, text }: { fact_id: string; text: string | undefined }) =>
      changeFact(conversationPath, fact_id, text),
    { onSuccess: (_, { text }) => done(text === undefined ? 'Forgotten.' : 'Saved.') },
  );
  const remove = useAction(() => client.agents.deleteMemory(conversationPath), {
    onSuccess: () => done('Forgotten.'),
  });
  return (
    <Stack gap={4} component="article" aria-label={`From ${item.session_id}`}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="xs" c="dimmed" title={formatTime(item.updated_at)}>
          From{' '}
          <TextLink
            to="/agents/$tenant"
            params={{ tenant: tenant_id }}
            search={{ conversation: item.session_id }}
            size="xs"
            underline="always"
          >
            this conversation
          </TextLink>
          , {formatAgo(item.updated_at)}
        </Text>
        <Permitted to="agents.deleteMemory">
          <Confirm
            title="Forget all of this?"
            text="Everything remembered from this conversation is deleted. The conversation stays."
            button="Forget"
            onConfirm={() => remove.mutate()}
          >
            {ask => (
              <Button
                size="compact-xs"
                variant="subtle"
                color="gray"
                miw="max-content"
                loading={remove.isPending}
                onClick={ask}
              >
                Forget all…
              </Button>
            )}
          </Confirm>
        </Permitted>
      </Group>
      {item.summary !== null && (
        <Text size="sm" className="stak-break" style={{ whiteSpace: 'pre-line' }}>
          {item.summary}
        </Text>
      )}
      {item.key_facts.map(fact => (
        <OneFact
          key={fact.fact_id}
          fact={fact}
          isBusy={change.isPending}
          onChange={text => change.mutateAsync({ fact_id: fact.fact_id, text })}
        />
      ))}
    </Stack>
  );
}

const origins: Record<string, string> = {
  user: 'The user asked to remember it',
  conversation: 'Learnt from what the user said',
  edited: 'Edited',
};
const originOf = (source: string): string => origins[source] ?? source;

type FactProps = { fact: Fact; isBusy: boolean; onChange: (text: string | undefined) => Promise<unknown> };

function OneFact({ fact: { fact, source, seq, supersedes }, isBusy, onChange }: FactProps) {
  const [isEditing, setIsEditing] = useState(false);
  const submit = submitHandler(text => {
    // The text stays in its field; the error is already shown.
    onChange(text('fact').trim()).then(
      () => setIsEditing(false),
      () => {},
    );
  });
  if (isEditing)
    return (
      <form onSubmit={submit}>
        <Group gap="xs" wrap="nowrap">
          <TextInput
            name="fact"
            aria-label="Fact"
            required
            maxLength={500}
            defaultValue={fact}
            flex={1}
            autoFocus
          />
          <Button type="submit" loading={isBusy}>
            Save
          </Button>
          <Button variant="default" onClick={() => setIsEditing(false)}>
            Cancel
          </Button>
        </Group>
      </form>
    );
  return (
    <Group gap="xs" wrap="nowrap" justify="space-between" className="agents-fact">
      <div>
        <Text size="sm" className="stak-break">
          {fact}
        </Text>
        <Text size="xs" c="dimmed" className="stak-break">
          {originOf(source)}
          {seq !== null && `, turn ${seq}`}
          {supersedes !== null && `. Before: ${supersedes}`}
        </Text>
      </div>
      <Permitted to="agents.editMemory">
        <Group gap={4} wrap="nowrap">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Edit: ${fact}`}
            onClick={() => setIsEditing(true)}
          >
            <IconPencil size={16} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Forget: ${fact}`}
            disabled={isBusy}
            onClick={() => onChange(undefined).catch(() => {})}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      </Permitted>
    </Group>
  );
}
