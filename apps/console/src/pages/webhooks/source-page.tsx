import { Button, Card, Code, Group, Stack, Tabs, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlayerPause, IconPlayerPlay, IconSend } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { StatusBadge } from '../../components/display/status-badge.tsx';
import { TabList } from '../../components/display/tab-list.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { isMissing, Missing } from '../../components/feedback/nothing-here.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { Confirm } from '../../components/fields/confirm.tsx';
import { CopyIcon, CopyLine } from '../../components/fields/copy.tsx';
import { useAction } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import type { Versioned } from '../../queries/save-over.ts';
import { usePageTitle } from '../../shell/page-title.ts';
import { curlOf } from '../../text/curl.ts';
import type { SourceSearch, SourceTab } from './address.ts';
import { WebhookAnalytics } from './analytics.tsx';
import { WebhookConnections } from './connections.tsx';
import { EventList } from './event-list.tsx';
import { providerNames } from './providers.ts';
import { type Source, sourceQuery } from './queries.ts';
import { SourceSettings } from './source-settings.tsx';

const route = getRouteApi('/inside/webhooks/$source');
const tabNames: Readonly<Record<SourceTab, string>> = {
  events: 'Events',
  connections: 'Connections',
  analytics: 'Analytics',
  settings: 'Settings',
};

export function WebhookSourcePage() {
  const { source: sourceId } = route.useParams();
  const { tab = 'events' } = route.useSearch();
  const source = useQuery(sourceQuery(sourceId));
  usePageTitle(tabNames[tab], source.data?.data.name ?? 'Source');
  if (isMissing(source.error))
    return (
      <Missing
        title="There is no such source"
        text="It may have been deleted, or it belongs to another account."
      >
        <TextLink to="/webhooks">Go to all sources</TextLink>
      </Missing>
    );
  return (
    <Stack>
      <TextLink to="/webhooks" size="sm">
        ← Sources
      </TextLink>
      <Loaded query={source}>
        {found => (
          <>
            <SourceHead source={found.data} />
            <SourceTabs read={found} />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

function SourceHead({ source: { sourceId, name, status, ...source } }: { source: Source }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const edit = useAction(
    (next: 'active' | 'paused') => client.webhooks.editSource({ sourceId, body: { status: next } }),
    { onSuccess: ({ data, etag }) => queries.setQueryData(sourceQuery(sourceId).queryKey, { data, etag }) },
  );
  const remove = useAction(() => client.webhooks.deleteSource({ sourceId }), {
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['sources'] });
      return navigate({ to: '/webhooks' });
    },
  });
  const isPaused = status === 'paused';
  return (
    <>
      <Group justify="space-between">
        <Group gap="sm">
          <Title order={2}>{name}</Title>
          <StatusBadge status={status} />
        </Group>
        <Group gap="xs">
          <Permitted to="webhooks.editSource">
            <Button
              variant="default"
              loading={edit.isPending}
              leftSection={isPaused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
              onClick={() => edit.mutate(isPaused ? 'active' : 'paused')}
            >
              {isPaused ? 'Resume' : 'Pause'}
            </Button>
          </Permitted>
          <Permitted to="webhooks.deleteSource">
            <Confirm
              title={`Delete ${name}?`}
              text="Its address stops working immediately. Events that have arrived stay readable until they expire."
              button="Delete source"
              onConfirm={() => remove.mutate()}
            >
              {ask => (
                <Button variant="default" loading={remove.isPending} onClick={ask}>
                  Delete
                </Button>
              )}
            </Confirm>
          </Permitted>
        </Group>
      </Group>
      <Address source={{ sourceId, ...source }} />
    </>
  );
}

function SourceTabs({ read }: { read: Versioned<Source> }) {
  const { sourceId } = read.data;
  const search = route.useSearch();
  const { tab = 'events', days } = search;
  const navigate = route.useNavigate();
  const go = (part: SourceSearch) => void navigate({ search: before => ({ ...before, ...part }) });
  return (
    <Tabs
      value={tab}
      onChange={next => go({ tab: next as SourceTab, connection: undefined, event: undefined })}
      keepMounted={false}
    >
      <TabList chosen={tab}>
        {Object.entries(tabNames).map(([value, label]) => (
          <Tabs.Tab key={value} value={value}>
            {label}
          </Tabs.Tab>
        ))}
      </TabList>
      <Tabs.Panel value="events" pt="md">
        <EventList
          sourceId={sourceId}
          search={search}
          change={part =>
            void navigate({ search: before => ({ ...before, ...part }), replace: !('event' in part) })
          }
        />
      </Tabs.Panel>
      <Tabs.Panel value="connections" pt="md">
        <WebhookConnections sourceId={sourceId} />
      </Tabs.Panel>
      <Tabs.Panel value="analytics" pt="md">
        <WebhookAnalytics sourceId={sourceId} days={days} onDays={count => go({ days: count })} />
      </Tabs.Panel>
      <Tabs.Panel value="settings" pt="md">
        <SourceSettings key={sourceId} read={read} />
      </Tabs.Panel>
    </Tabs>
  );
}

type Sender = Pick<
  Source,
  'sourceId' | 'ingestUrl' | 'provider' | 'signatures' | 'hasSigningSecret' | 'eventCount'
>;

const sampleCurl = (url: string): string =>
  curlOf({
    method: 'POST',
    url,
    headers: [['Content-Type', 'application/json']],
    body: new TextEncoder().encode('{"type":"order.paid","amount":4200}'),
  });

// How to send is for the beginning: once events have arrived, the address alone is left, until somebody asks.
function Address({ source }: { source: Sender }) {
  const { ingestUrl, provider, signatures, hasSigningSecret, eventCount } = source;
  const [isOpen, { toggle }] = useDisclosure(eventCount === 0);
  if (ingestUrl === undefined)
    return (
      <Card withBorder>
        <Text size="sm" c="dimmed">
          Stak itself sends to this source: reminders of your tasks, and of the tasks of your tenants’ users.
        </Text>
      </Card>
    );
  const isChecked = signatures !== 'off';
  const sender = provider === 'custom' ? 'the sender' : providerNames[provider];
  const address = (
    <Group gap={4} wrap="nowrap" miw={0}>
      <Text fw={600} className="stak-mono" data-testid="address">
        {ingestUrl}
      </Text>
      <CopyIcon value={ingestUrl} label="Copy the address" />
    </Group>
  );
  const fold = eventCount > 0 && (
    <Button variant="subtle" size="xs" aria-expanded={isOpen} onClick={toggle}>
      {isOpen ? 'Hide how to send' : 'How to send'}
    </Button>
  );
  if (!isOpen)
    return (
      <Group justify="space-between" gap="xs">
        {address}
        <Group gap="xs">
          {fold}
          <Permitted to="webhooks.sendTestEvent">
            <SendTestEvent source={source} />
          </Permitted>
        </Group>
      </Group>
    );
  return (
    <Card withBorder>
      <Stack gap="xs">
        <Group justify="space-between" gap="xs">
          {address}
          {fold}
        </Group>
        <Text size="sm" c="dimmed">
          Give this address to {sender}.{' '}
          {!isChecked
            ? 'Signatures are not checked, so anyone who knows the address can send.'
            : hasSigningSecret
              ? 'Only requests with a valid signature are accepted.'
              : 'Signatures are checked, but there is no signing secret yet: every request is refused. Set one in the settings.'}
        </Text>
        {!isChecked && (
          <Code block className="stak-code" tabIndex={0} aria-label="A request to try">
            {sampleCurl(ingestUrl)}
          </Code>
        )}
        <Group>
          <Permitted to="webhooks.sendTestEvent">
            <SendTestEvent source={source} />
          </Permitted>
          {!isChecked && <CopyLine value={sampleCurl(ingestUrl)} label="Copy the command" />}
        </Group>
      </Stack>
    </Card>
  );
}

function SendTestEvent({ source }: { source: Sender }) {
  const { sourceId, provider, signatures, hasSigningSecret } = source;
  const send = useAction(() => client.webhooks.sendTestEvent({ sourceId }), {
    done: 'The test event has arrived: it is the newest in the list.',
    refreshes: [['events', sourceId]],
  });
  if (signatures !== 'off' && provider === 'sendgrid')
    return (
      <Text size="sm" c="dimmed">
        To test it, use “Test Your Integration” in SendGrid: only SendGrid has the key that signs.
      </Text>
    );
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<IconSend size={14} />}
      disabled={signatures !== 'off' && !hasSigningSecret}
      loading={send.isPending}
      onClick={() => send.mutate()}
    >
      Send a test event
    </Button>
  );
}
