import { Card, Stack, Text } from '@mantine/core';
import { DataTable } from '../../../components/display/data-table.tsx';
import { Diff } from '../../../components/display/diff.tsx';
import { Heading } from '../../../components/display/section.tsx';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { ActionMenu } from '../../../components/fields/action-menu.tsx';
import { useAction } from '../../../queries/actions.ts';
import { useAnswer, useRows } from '../../../queries/answers.ts';
import { client } from '../../../queries/api.ts';
import { formatAgo, formatTime } from '../../../text/format.ts';
import { agentKey, agentsKey } from '../queries.ts';

type Props = { tenant_id: string; name: string };

// Shows what the draft would change, and the versions, each of which can answer again.
export function AgentVersions({ tenant_id, name }: Props) {
  const agent = { tenant_id, name };
  const key = agentKey(tenant_id, name);
  const versions = useRows([...key, 'versions'], () =>
    client.agents.listAgentVersions({ ...agent, limit: 100 }),
  );
  const differences = useAnswer([...key, 'differences'], () => client.agents.getAgentDifferences(agent));
  const rollBack = useAction(
    (version: number) => client.agents.publishAgent({ ...agent, body: { version } }),
    {
      done: 'It answers from the next turn on.',
      refreshes: [key, agentsKey(tenant_id)],
    },
  );
  return (
    <Card withBorder component="section" aria-label={`Versions of ${name}`}>
      <Stack>
        <Heading>Draft and published version</Heading>
        <Loaded query={differences}>
          {({ data }) =>
            data.length === 0 ? (
              <Text size="sm">The draft is the version that answers.</Text>
            ) : (
              data.map(({ field, before, after }) => (
                <div key={field}>
                  <Text size="sm" fw={600}>
                    {field}
                  </Text>
                  <Diff
                    label={`${field}: published and draft`}
                    before={textOf(before)}
                    after={textOf(after)}
                  />
                </div>
              ))
            )
          }
        </Loaded>
        <Heading>Versions</Heading>
        <Loaded query={versions}>
          {rows => (
            <DataTable
              label="Versions"
              rows={rows}
              keyOf={row => String(row.version)}
              minWidth={360}
              empty="Nothing is published yet."
              columns={[
                { label: 'Version', show: row => row.version },
                { label: 'Answers', show: row => (row.is_published ? 'yes' : '–') },
                {
                  label: 'Created',
                  show: row => <span title={formatTime(row.created_at)}>{formatAgo(row.created_at)}</span>,
                },
                { label: 'Note', show: row => row.note ?? '–' },
                {
                  label: '',
                  show: row =>
                    !row.is_published && (
                      <ActionMenu
                        label={`Actions of version ${row.version}`}
                        actions={[
                          {
                            label: 'Have it answer again',
                            needs: 'agents.publishAgent',
                            onClick: () => rollBack.mutate(row.version),
                          },
                        ]}
                      />
                    ),
                },
              ]}
            />
          )}
        </Loaded>
      </Stack>
    </Card>
  );
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value, null, 2);
