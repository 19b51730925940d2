import { Button, NavLink, Select, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { More, usePages } from '../../../components/display/pages.tsx';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { Permitted } from '../../../components/feedback/permitted.tsx';
import { client } from '../../../queries/api.ts';
import { paced } from '../../../queries/pace.ts';
import { useMay } from '../../../queries/permissions.ts';
import { useUserChoices, useUsers } from '../../../queries/tenants.ts';
import { counted, formatAgo, isolate } from '../../../text/format.ts';
import { type Go, type TenantSearch, unbegun } from '../../tenants/address.ts';
import { type Conversation, conversationsKey, nameOfConversation } from '../queries.ts';

const refreshMs = 5_000; // channels and other windows add messages too, and there is no stream for them

type Props = { tenant_id: string; search: TenantSearch; go: Go };

// Newest first, of all users or of one.
export function ConversationList({ tenant_id, search: { conversation, user }, go }: Props) {
  const users = useUsers(tenant_id).data ?? [];
  const may = useMay();
  const choices = useUserChoices(tenant_id, user);
  const filter = user === undefined ? {} : { user_id: user };
  const conversations = usePages(
    [...conversationsKey(tenant_id), user ?? null],
    cursor => client.agents.listConversations({ tenant_id, limit: 30, ...filter, ...cursor }),
    { refetchInterval: paced(refreshMs) },
  );
  const whose = user === undefined ? {} : { user };
  const nameOf = (user_id: string) => users.find(user => user.user_id === user_id)?.display_name ?? user_id;
  return (
    <Stack gap="xs" className="agents-side">
      <Permitted to="agents.createConversation">
        <Button
          variant={conversation === undefined ? 'light' : 'default'}
          leftSection={<IconPlus size={16} />}
          onClick={() => go({ ...whose, conversation: unbegun })}
        >
          New conversation
        </Button>
      </Permitted>
      <Select
        aria-label="Conversations of"
        placeholder="All users"
        data={choices}
        value={user ?? null}
        onChange={value => go(value === null ? {} : { user: value })}
        clearable
        clearButtonProps={{ 'aria-label': 'Conversations of all users' }}
        searchable
      />
      <nav aria-label="Conversations" className="agents-list">
        <Loaded query={conversations}>
          {rows =>
            rows.length === 0 ? (
              <Text c="dimmed" size="sm" p="xs">
                There is no conversation yet.
                {may('agents.createConversation') && ' Say something, and it begins.'}
              </Text>
            ) : (
              rows.map(row => (
                <Row
                  key={row.conversation_id}
                  row={row}
                  whose={row.user_id === null ? undefined : isolate(nameOf(row.user_id))}
                  isActive={row.conversation_id === conversation}
                  onOpen={() => go({ ...whose, conversation: row.conversation_id })}
                />
              ))
            )
          }
        </Loaded>
        <More of={conversations} label="Older conversations" />
      </nav>
    </Stack>
  );
}

type RowProps = { row: Conversation; whose: string | undefined; isActive: boolean; onOpen: () => void };

function Row({ row, whose, isActive, onOpen }: RowProps) {
  const facts = [whose, row.channel === 'dashboard' ? undefined : row.channel, counted(row.turns, 'turn')];
  return (
    <NavLink
      component="button"
      label={nameOfConversation(row)}
      description={[...facts, row.updated_at && formatAgo(row.updated_at)].filter(Boolean).join(' · ')}
      active={isActive}
      aria-current={isActive ? 'true' : undefined}
      onClick={onOpen}
      noWrap
    />
  );
}
