import { Select, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Heading } from '../../../components/display/section.tsx';
import { Failure } from '../../../components/feedback/failure.tsx';
import { useSubmit } from '../../../queries/actions.ts';
import { client } from '../../../queries/api.ts';
import { usersQuery, useUserChoices } from '../../../queries/tenants.ts';
import { conversationsKey } from '../queries.ts';
import { Composer } from './composer.tsx';
import { Suggestions } from './suggestions.tsx';
import { say } from './talk.ts';

type Props = { tenant_id: string; user: string | undefined; onBegun: (conversation_id: string) => void };

// The conversation is created with its first message, so none is ever empty.
export function NewConversation({ tenant_id, user, onBegun }: Props) {
  const queries = useQueryClient();
  const choices = useUserChoices(tenant_id, user);
  const [chosen, setChosen] = useState<string | null>();
  // Memory belongs to a user, so one is selected by default.
  const user_id = chosen === undefined ? (user ?? choices[0]?.value ?? null) : chosen;
  const begin = useSubmit(
    async (content: string) => {
      // Waits for the users, so that a message sent before they are loaded still has a speaker.
      const [first] = chosen === undefined ? await queries.ensureQueryData(usersQuery(tenant_id)) : [];
      const speaker = user_id ?? first?.user_id;
      const body = speaker === undefined ? {} : { user_id: speaker };
      const { conversation_id } = (await client.agents.createConversation({ tenant_id, body })).data;
      return { conversationPath: { tenant_id, conversation_id }, content };
    },
    {
      onSuccess: ({ conversationPath, content }) => {
        void say(queries, conversationPath, content);
        void queries.invalidateQueries({ queryKey: conversationsKey(tenant_id) });
        onBegun(conversationPath.conversation_id);
      },
    },
  );
  return (
    <>
      <Stack className="agents-log" justify="center" p="md">
        <Stack maw={520} mx="auto" w="100%">
          <Heading>Talk to the agent</Heading>
          <Select
            label="As"
            description="The agent sees this user’s tasks, inbox and memory."
            placeholder="No user"
            data={choices}
            value={user_id}
            onChange={setChosen}
            clearable
            clearButtonProps={{ 'aria-label': 'No user' }}
            searchable
          />
          <Suggestions tenant_id={tenant_id} onSay={begin.mutate} />
          {begin.error && <Failure error={begin.error} onRetry={() => begin.mutate(begin.variables)} />}
        </Stack>
      </Stack>
      <div className="agents-foot">
        <Composer isBusy={begin.isPending} onSay={begin.mutate} />
      </div>
    </>
  );
}
