import { Card, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { More, usePages } from '../../../components/display/pages.tsx';
import { Heading } from '../../../components/display/section.tsx';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { TextLink } from '../../../components/feedback/text-link.tsx';
import { client } from '../../../queries/api.ts';
import { useUserChoices, useUsers } from '../../../queries/tenants.ts';
import type { Go } from '../../tenants/address.ts';
import { memoryKey } from '../queries.ts';
import { MemoryItem } from './memory-item.tsx';
import { MemorySummary } from './memory-summary.tsx';

type Props = { tenant_id: string; user: string | undefined; go: Go };

export function MemoryOfUsers({ tenant_id, user, go }: Props) {
  const users = useUsers(tenant_id);
  const choices = useUserChoices(tenant_id, user);
  return (
    <Loaded query={users}>
      {all => {
        const user_id = user ?? all[0]?.user_id;
        if (user_id === undefined)
          return (
            <Text c="dimmed">
              An agent remembers users, and this tenant has none yet.{' '}
              <TextLink
                to="/agents/$tenant"
                params={{ tenant: tenant_id }}
                search={{ tab: 'users' }}
                underline="always"
              >
                Add one
              </TextLink>
              .
            </Text>
          );
        return (
          <Stack>
            <Select
              label="What the agent knows about"
              data={choices}
              value={user_id}
              allowDeselect={false}
              searchable
              maw={320}
              onChange={value => value !== null && go({ tab: 'memory', user: value })}
            />
            <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
              <Facts key={user_id} tenant_id={tenant_id} user_id={user_id} />
              <MemorySummary
                key={`summary ${user_id}`}
                tenant_id={tenant_id}
                user_id={user_id}
                name={all.find(one => one.user_id === user_id)?.display_name ?? user_id}
              />
            </SimpleGrid>
          </Stack>
        );
      }}
    </Loaded>
  );
}

function Facts({ tenant_id, user_id }: { tenant_id: string; user_id: string }) {
  const memory = usePages(memoryKey(tenant_id, user_id), cursor =>
    client.agents.listMemory({ tenant_id, user_id, limit: 50, ...cursor }),
  );
  return (
    <Card withBorder component="section" aria-label="Remembered facts">
      <Stack>
        <div>
          <Heading>Conversations and facts</Heading>
          <Text c="dimmed" size="sm">
            By the conversation they come from: what the user asked to remember, and what was learnt when the
            conversation was summarised. A model gets the newest, up to 8 KB.
          </Text>
        </div>
        <Loaded query={memory}>
          {items =>
            items.length === 0 ? (
              <Text c="dimmed" size="sm">
                Nothing is remembered yet. A conversation is summarised when it has been quiet for ten
                minutes. Or enable <b>remember</b> under Skills, and say "Remember that I like tea".
              </Text>
            ) : (
              items.map(item => (
                <MemoryItem key={item.session_id} tenant_id={tenant_id} user_id={user_id} item={item} />
              ))
            )
          }
        </Loaded>
        <More of={memory} label="More" />
      </Stack>
    </Card>
  );
}
