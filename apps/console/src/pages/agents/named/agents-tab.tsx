import { Button, Card, Group, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { DataTable } from '../../../components/display/data-table.tsx';
import { Heading } from '../../../components/display/section.tsx';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { Permitted } from '../../../components/feedback/permitted.tsx';
import { Prompt } from '../../../components/fields/prompt.tsx';
import { useAction } from '../../../queries/actions.ts';
import { useRows } from '../../../queries/answers.ts';
import { client } from '../../../queries/api.ts';
import type { Go } from '../../tenants/address.ts';
import { agentsKey, type ListedAgent } from '../queries.ts';
import { AgentEditor } from './agent-editor.tsx';
import { AgentVersions } from './agent-versions.tsx';

type Props = { tenant_id: string; agent: string | undefined; go: Go };

// The agents of a tenant, and the chosen one: its draft beside a chat with it, and its versions.
export function AgentsTab({ tenant_id, agent, go }: Props) {
  const agents = useRows(agentsKey(tenant_id), () => client.agents.listAgents({ tenant_id, limit: 100 }));
  return (
    <Loaded query={agents}>
      {rows => (
        <Stack>
          <AgentList tenant_id={tenant_id} rows={rows} onOpen={name => go({ tab: 'agents', agent: name })} />
          {agent !== undefined && rows.some(({ name }) => name === agent) && (
            <>
              <AgentEditor key={agent} tenant_id={tenant_id} name={agent} agents={rows} />
              <AgentVersions tenant_id={tenant_id} name={agent} />
            </>
          )}
        </Stack>
      )}
    </Loaded>
  );
}

type ListProps = { tenant_id: string; rows: ListedAgent[]; onOpen: (name: string) => void };

function AgentList({ tenant_id, rows, onOpen }: ListProps) {
  const [isNaming, setIsNaming] = useState(false);
  const create = useAction(
    (name: string) =>
      client.agents.saveAgent({ tenant_id, name, body: {}, 'if-none-match': '*' }).then(() => name),
    { refreshes: [agentsKey(tenant_id)], onSuccess: onOpen },
  );
  return (
    <Card withBorder component="section" aria-label="Agents">
      <Group justify="space-between" mb="sm">
        <div>
          <Heading>Agents</Heading>
          <Text c="dimmed" size="sm">
            A conversation belongs to one of them. The first one is the settings of the tenant.
          </Text>
        </div>
        <Permitted to="agents.saveAgent">
          <Button leftSection={<IconPlus size={16} />} onClick={() => setIsNaming(true)}>
            New agent
          </Button>
        </Permitted>
      </Group>
      <DataTable
        label="Agents"
        rows={rows}
        keyOf={row => row.name}
        minWidth={480}
        empty="There is no agent."
        columns={[
          {
            label: 'Agent',
            show: row =>
              row.is_settings ? (
                <span className="stak-mono">{row.name}</span>
              ) : (
                <Button variant="subtle" size="compact-sm" onClick={() => onOpen(row.name)}>
                  <span className="stak-mono">{row.name}</span>
                </Button>
              ),
          },
          { label: 'For', show: row => row.description || '–' },
          { label: 'Answers', show: answering },
          { label: 'Draft', show: row => (row.has_changes ? 'changed' : '–') },
        ]}
      />
      <Prompt
        isOpen={isNaming}
        title="New agent"
        label="Name, such as billing"
        taken={[]}
        onClose={() => setIsNaming(false)}
        onSubmit={create.mutate}
      />
    </Card>
  );
}

function answering({ is_settings, published_version }: ListedAgent): string {
  if (is_settings) return 'settings';
  return published_version === null ? 'not yet' : `version ${published_version}`;
}
