import { Button, Card, Group, Menu, Stack, Text, Title } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { DataTable } from '../../components/display/data-table.tsx';
import { StatusBadge } from '../../components/display/status-badge.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded, Loading } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { usePageTitle } from '../../shell/page-title.ts';
import { formatNumber } from '../../text/format.ts';
import { statusOf } from './connection-status.ts';
import { type Source, useConnectionsOf, useSources } from './queries.ts';
import { SourceSelect } from './source-select.tsx';

const route = getRouteApi('/inside/webhooks/connections');
const sourcesAtOnce = 20; // one request each

export function WebhookConnectionsPage() {
  usePageTitle('Connections', 'Webhooks');
  const { source } = route.useSearch();
  const navigate = route.useNavigate();
  const sources = useSources();
  return (
    <Stack>
      <Group justify="space-between" align="end">
        <div>
          <Title order={2}>Connections</Title>
          <Text c="dimmed" size="sm">
            Where events are delivered. A connection belongs to a source.
          </Text>
        </div>
        <Group align="end" gap="xs">
          <Permitted to="webhooks.createConnection">
            <NewConnection sources={sources.data ?? []} chosen={source} />
          </Permitted>
          <SourceSelect
            value={source}
            onChange={next =>
              void navigate({ search: next === undefined ? {} : { source: next }, replace: true })
            }
          />
        </Group>
      </Group>
      <Loaded query={sources}>
        {all => (
          <ConnectionsOf sources={source === undefined ? all : all.filter(one => one.sourceId === source)} />
        )}
      </Loaded>
    </Stack>
  );
}

// A connection belongs to a source, so the source is chosen first unless there is one choice only.
function NewConnection({ sources, chosen }: { sources: readonly Source[]; chosen: string | undefined }) {
  const navigate = useNavigate();
  const choices = chosen === undefined ? sources : sources.filter(source => source.sourceId === chosen);
  const add = (source: string) =>
    void navigate({
      to: '/webhooks/$source',
      params: { source },
      search: { tab: 'connections', connection: 'new' },
    });
  if (choices.length === 0) return null;
  const only = choices.length === 1 ? choices[0] : undefined;
  const button = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={only && (() => add(only.sourceId))}>
      New connection
    </Button>
  );
  if (only) return button;
  return (
    <Menu position="bottom-end">
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
        <Menu.Label>Of which source?</Menu.Label>
        {choices.map(({ sourceId, name }) => (
          <Menu.Item key={sourceId} onClick={() => add(sourceId)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function ConnectionsOf({ sources }: { sources: readonly Source[] }) {
  const [count, setCount] = useState(sourcesAtOnce);
  const shown = sources.slice(0, count);
  const { data, error, isPending } = useConnectionsOf(shown.map(one => one.sourceId));
  const nameOf = (sourceId: string) => sources.find(source => source.sourceId === sourceId)?.name ?? sourceId;
  return (
    <>
      {error && <Failure error={error} />}
      <Card withBorder>
        {isPending && data.length === 0 && sources.length > 0 ? (
          <Loading />
        ) : (
          <DataTable
            label="Connections"
            rows={data}
            keyOf={row => row.connectionId}
            minWidth={720}
            empty="There is no connection yet. Open a source to add one that delivers its events to your own address."
            columns={[
              {
                label: 'Name',
                show: row => (
                  <TextLink
                    to="/webhooks/$source"
                    params={{ source: row.sourceId }}
                    search={{ tab: 'connections', connection: row.connectionId }}
                    size="sm"
                    fw={600}
                  >
                    {row.name}
                  </TextLink>
                ),
              },
              {
                label: 'Source',
                show: row => (
                  <TextLink to="/webhooks/$source" params={{ source: row.sourceId }} size="sm">
                    {nameOf(row.sourceId)}
                  </TextLink>
                ),
              },
              {
                label: 'Status',
                show: row => <StatusBadge status={statusOf(row).status} label={statusOf(row).label} />,
              },
              { label: 'Destination', show: row => <span className="stak-mono">{row.destinationUrl}</span> },
              { label: 'Delivered', show: row => formatNumber(row.deliveryCount), isNumber: true },
              { label: 'Failed', show: row => formatNumber(row.failureCount), isNumber: true },
            ]}
          />
        )}
      </Card>
      {sources.length > count && (
        <Group justify="center">
          <Button variant="default" onClick={() => setCount(count + sourcesAtOnce)}>
            Connections of more sources
          </Button>
        </Group>
      )}
    </>
  );
}
