import { Card, Text } from '@mantine/core';
import { Permitted } from '../../../components/feedback/permitted.tsx';
import { type Go, type TenantSearch, unbegun } from '../../tenants/address.ts';
import { ConversationList } from './conversation-list.tsx';
import { ConversationPane } from './conversation-pane.tsx';
import { NewConversation } from './new-conversation.tsx';

type Props = { tenant_id: string; search: TenantSearch; go: Go };

// The list of conversations beside the open one. A phone shows one of the two.
export function Chat({ tenant_id, search, go }: Props) {
  const { conversation, user } = search;
  const back = () => go(user === undefined ? {} : { user });
  return (
    <div className="agents-chat" data-open={conversation !== undefined}>
      <ConversationList tenant_id={tenant_id} search={search} go={go} />
      <Card withBorder padding={0} className="agents-pane" component="section" aria-label="Conversation">
        {conversation === undefined || conversation === unbegun ? (
          <Permitted
            to="agents.createConversation"
            otherwise={
              <Text c="dimmed" p="md">
                Choose a conversation to read it. Your role does not let you talk to the agent.
              </Text>
            }
          >
            <NewConversation
              key={user ?? ''}
              tenant_id={tenant_id}
              user={user}
              onBegun={id => go({ ...search, conversation: id })}
            />
          </Permitted>
        ) : (
          <ConversationPane
            key={conversation}
            conversationPath={{ tenant_id, conversation_id: conversation }}
            onLeave={back}
          />
        )}
      </Card>
    </div>
  );
}
