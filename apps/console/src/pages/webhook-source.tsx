import { Button, Card, Code, Group, Stack, Tabs, Text, Title } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { client } from '../api.ts';
import { complain } from '../complaint.ts';
import { Confirm } from '../confirm.tsx';
import { CopyIcon, CopyLine } from '../copy.tsx';
import { Loaded } from '../loaded.tsx';
import { StatusBadge } from '../status-badge.tsx';
import { TextLink } from '../text-link.tsx';
import { WebhookAnalytics } from './webhook-analytics.tsx';
import { WebhookConnections } from './webhook-connections.tsx';
import { WebhookEvents } from './webhook-events.tsx';

const route = getRouteApi('/inside/webhooks/$source');

const curlOf = (address: string): string =>
  `curl ${address} -H 'Content-Type: application/json' -d '{"type":"order.paid","amount":4200}'`;

export function WebhookSourcePage() {
  const { source: sourceId } = route.useParams();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const source = useQuery({
    queryKey: ['source', sourceId],
    queryFn: async () => (await client.webhooks.readSource({ sourceId })).data,
  });
  const edit = useMutation({
    mutationFn: (status: 'active' | 'paused') => client.webhooks.editSource({ sourceId, body: { status } }),
    onSuccess: ({ data }) => queries.setQueryData(['source', sourceId], data),
    onError: complain,
  });
  const remove = useMutation({
    mutationFn: () => client.webhooks.deleteSource({ sourceId }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['sources'] });
      return navigate({ to: '/webhooks' });
    },
    onError: complain,
  });
  return (
    <Stack>
      <TextLink to="/webhooks" size="sm">
        ← Webhooks
      </TextLink>
      <Loaded query={source}>
        {({ name, status, ...found }) => (
          <>
            <Group justify="space-between">
              <Group gap="sm">
                <Title order={2}>{name}</Title>
                <StatusBadge status={status} />
              </Group>
              <Group gap="xs">
                <Button
                  variant="default"
                  loading={edit.isPending}
                  leftSection={
                    status === 'paused' ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />
                  }
                  onClick={() => edit.mutate(status === 'paused' ? 'active' : 'paused')}
                >
                  {status === 'paused' ? 'Resume' : 'Pause'}
                </Button>
                <Confirm
                  title={`Delete ${name}?`}
                  text="The source is gone, and its address takes nothing any more."
                  button="Delete source"
                  onConfirm={() => remove.mutate()}
                >
                  {ask => (
                    <Button variant="default" loading={remove.isPending} onClick={ask}>
                      Delete
                    </Button>
                  )}
                </Confirm>
              </Group>
            </Group>
            <Card withBorder>
              <Address source={found} />
            </Card>
          </>
        )}
      </Loaded>
      <Tabs defaultValue="events" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="events">Events</Tabs.Tab>
          <Tabs.Tab value="connections">Connections</Tabs.Tab>
          <Tabs.Tab value="analytics">Analytics</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="events" pt="md">
          <WebhookEvents sourceId={sourceId} />
        </Tabs.Panel>
        <Tabs.Panel value="connections" pt="md">
          <WebhookConnections sourceId={sourceId} />
        </Tabs.Panel>
        <Tabs.Panel value="analytics" pt="md">
          <WebhookAnalytics sourceId={sourceId} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

type Sender = { ingestUrl?: string; provider: string; hasSigningSecret: boolean };

function Address({ source: { ingestUrl, provider, hasSigningSecret } }: { source: Sender }) {
  if (ingestUrl === undefined)
    return (
      <Text size="sm" c="dimmed">
        Stak itself sends to this source: reminders of your tasks, and of the tasks of your tenants’ users.
      </Text>
    );
  return (
    <Stack gap="xs">
      <Group gap={4} wrap="nowrap">
        <Text fw={600} className="stak-mono" data-testid="address">
          {ingestUrl}
        </Text>
        <CopyIcon value={ingestUrl} label="Copy the address" />
      </Group>
      <Text size="sm" c="dimmed">
        {provider === 'custom' ? 'Give this address to whoever sends.' : `Give this address to ${provider}.`}{' '}
        {hasSigningSecret ? 'Signatures are checked.' : 'Signatures are not checked.'} Try it:
      </Text>
      <Code block className="stak-code" tabIndex={0} aria-label="A request to try">
        {curlOf(ingestUrl)}
      </Code>
      <Group>
        <CopyLine value={curlOf(ingestUrl)} label="Copy the command" />
      </Group>
    </Stack>
  );
}
