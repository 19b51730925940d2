import { Button, Card, Group, SimpleGrid, Text } from '@mantine/core';
import { IconMessageChatbot } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Heading } from '../../../components/display/section.tsx';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { Permitted } from '../../../components/feedback/permitted.tsx';
import { ActionMenu } from '../../../components/fields/action-menu.tsx';
import { useAction, useSubmit } from '../../../queries/actions.ts';
import { client } from '../../../queries/api.ts';
import { ConversationPane } from '../chat/conversation-pane.tsx';
import { agentKey, agentsKey, type ListedAgent } from '../queries.ts';
import { type AgentDraft, AgentFields } from './agent-fields.tsx';

type Props = { tenant_id: string; name: string; agents: readonly ListedAgent[] };

// The draft beside a conversation that the draft answers.
export function AgentEditor({ tenant_id, name, agents }: Props) {
  const agent = { tenant_id, name };
  const refreshes = [agentKey(tenant_id, name), agentsKey(tenant_id)];
  const read = useQuery({
    queryKey: agentKey(tenant_id, name),
    queryFn: () => client.agents.getAgent(agent),
    staleTime: Number.POSITIVE_INFINITY, // what is typed stays
  });
  const ifMatch = { ifMatch: read.data?.etag ?? '*' };
  const save = useSubmit((body: AgentDraft) => client.agents.saveAgent({ ...agent, body }, ifMatch), {
    done: 'Saved. It answers when it is published.',
    refreshes,
  });
  const publish = useAction(() => client.agents.publishAgent({ ...agent, body: {} }, ifMatch), {
    done: 'Published.',
    refreshes,
  });
  const remove = useAction(() => client.agents.deleteAgent(agent), { refreshes: [agentsKey(tenant_id)] });
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Card withBorder component="section" aria-label={`Draft of ${name}`}>
        <Group justify="space-between" mb="sm">
          <Heading>{name}</Heading>
          <Group gap="xs">
            <Permitted to="agents.publishAgent">
              <Button
                variant="default"
                loading={publish.isPending}
                disabled={!read.data?.data.has_changes}
                onClick={() => publish.mutate()}
              >
                Publish
              </Button>
            </Permitted>
            <ActionMenu
              label={`Actions of ${name}`}
              actions={[
                {
                  label: 'Delete…',
                  needs: 'agents.deleteAgent',
                  question: {
                    title: `Delete ${name}?`,
                    text: 'Its versions are deleted with it. The settings of the tenant answer in its conversations.',
                    button: 'Delete',
                  },
                  onClick: () => remove.mutate(),
                },
              ]}
            />
          </Group>
        </Group>
        <Loaded query={read}>
          {({ data, etag }) => (
            <AgentFields
              key={etag}
              tenant_id={tenant_id}
              draft={data.draft}
              others={agents.map(one => one.name).filter(one => one !== name)}
              isBusy={save.isPending}
              error={save.error}
              onFilled={save.mutate}
            />
          )}
        </Loaded>
      </Card>
      <Card withBorder padding={0} className="agents-pane" component="section" aria-label={`Try ${name}`}>
        <AgentTrial tenant_id={tenant_id} name={name} />
      </Card>
    </SimpleGrid>
  );
}

function AgentTrial({ tenant_id, name }: Omit<Props, 'agents'>) {
  const [conversation_id, setConversation] = useState<string>();
  const body = { agent: name, agent_version: 'draft', title: `Draft of ${name}` } as const;
  const begin = useAction(() => client.agents.createConversation({ tenant_id, body }), {
    onSuccess: ({ data }) => setConversation(data.conversation_id),
  });
  if (conversation_id !== undefined)
    return (
      <ConversationPane
        key={conversation_id}
        conversationPath={{ tenant_id, conversation_id }}
        onLeave={() => setConversation(undefined)}
      />
    );
  return (
    <div className="agents-foot">
      <Text c="dimmed" size="sm" mb="sm">
        Talk to the draft as it is saved. Each message is answered by what you have saved last.
      </Text>
      <Permitted to="agents.createConversation">
        <Button
          leftSection={<IconMessageChatbot size={16} />}
          loading={begin.isPending}
          onClick={() => begin.mutate()}
        >
          Try the draft
        </Button>
      </Permitted>
    </div>
  );
}
