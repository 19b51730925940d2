import { Alert, Button, Card, Group, Modal, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { DataTable } from '../../components/display/data-table.tsx';
import { Heading } from '../../components/display/section.tsx';
import { StatusBadge } from '../../components/display/status-badge.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { CopyIcon } from '../../components/fields/copy.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { useSubmit } from '../../queries/actions.ts';
import { useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { useMay } from '../../queries/permissions.ts';
import { usePageTitle } from '../../shell/page-title.ts';
import { formatAgo, formatNumber, formatTime } from '../../text/format.ts';
import { type Provider, providerChoices, providerNames } from './providers.ts';
import { useConnectionsOf, useSources } from './queries.ts';

const route = getRouteApi('/inside/webhooks');

export function WebhooksPage() {
  usePageTitle('Sources', 'Webhooks');
  const { create: isOpen = false } = route.useSearch();
  const navigate = route.useNavigate();
  const open = () => void navigate({ search: { create: true } });
  const close = () => void navigate({ search: {}, replace: true });
  const sources = useSources();
  const may = useMay();
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2}>Sources</Title>
        <Permitted to="webhooks.createSource">
          <Button data-create leftSection={<IconPlus size={16} />} onClick={open}>
            New source
          </Button>
        </Permitted>
      </Group>
      <Loaded query={sources}>
        {rows => (
          <Card withBorder>
            <DataTable
              label="Sources"
              rows={rows}
              keyOf={row => row.sourceId}
              empty="There is no source yet. Create one to get an address that receives webhooks, stores them and delivers them."
              columns={[
                {
                  label: 'Name',
                  show: row => (
                    <TextLink to="/webhooks/$source" params={{ source: row.sourceId }} size="sm" fw={600}>
                      {row.name}
                    </TextLink>
                  ),
                },
                { label: 'Provider', show: row => providerNames[row.provider] },
                { label: 'Status', show: row => <StatusBadge status={row.status} /> },
                {
                  label: 'Address',
                  show: row =>
                    row.ingestUrl === undefined ? (
                      'Stak itself'
                    ) : (
                      <Group gap={4} wrap="nowrap">
                        <span className="stak-mono">{row.ingestUrl}</span>
                        <CopyIcon value={row.ingestUrl} label={`Copy the address of ${row.name}`} />
                      </Group>
                    ),
                },
                { label: 'Events', show: row => formatNumber(row.eventCount), isNumber: true },
                {
                  label: 'Last event',
                  show: row =>
                    row.lastEventAt ? (
                      <span title={formatTime(row.lastEventAt)}>{formatAgo(row.lastEventAt)}</span>
                    ) : (
                      'Never'
                    ),
                },
              ]}
            />
          </Card>
        )}
      </Loaded>
      <WebhookAlerts />
      <Modal
        opened={isOpen && may('webhooks.createSource')}
        onClose={close}
        title="New source"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <NewSource />
      </Modal>
    </Stack>
  );
}

function NewSource() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [provider, setProvider] = useState<Provider>('custom');
  const create = useSubmit(
    (body: { name: string; provider: Provider; signingSecret?: string }) =>
      client.webhooks.createSource({ body }),
    {
      onSuccess: ({ data }) => {
        void queries.invalidateQueries({ queryKey: ['sources'] });
        return navigate({ to: '/webhooks/$source', params: { source: data.sourceId } });
      },
    },
  );
  const submit = submitHandler(text => {
    const signingSecret = text('secret');
    create.mutate({ name: text('name'), provider, ...(signingSecret && { signingSecret }) });
  });
  return (
    <form onSubmit={submit}>
      <Stack>
        {create.error && <Failure error={create.error} />}
        <TextInput
          name="name"
          label="Name"
          placeholder="Shop orders"
          required
          maxLength={100}
          data-autofocus
        />
        <Select
          label="Provider"
          description={
            provider === 'stak'
              ? 'Events of Stak itself, such as reminders of tasks'
              : 'Decides how signatures are checked'
          }
          data={providerChoices}
          value={provider}
          allowDeselect={false}
          onChange={value => setProvider((value ?? 'custom') as Provider)}
        />
        {provider !== 'custom' && provider !== 'stak' && (
          <TextInput
            name="secret"
            label="Signing secret"
            description="The provider shows it next to the address. Stak encrypts it and never shows it."
            type="password"
            autoComplete="off"
          />
        )}
        <Button type="submit" loading={create.isPending}>
          Create source
        </Button>
      </Stack>
    </form>
  );
}

const alertTitles = {
  delivery_failed: 'A delivery failed for good',
  breaker_opened: 'A destination keeps failing: deliveries wait',
  connection_disabled: 'A connection was disabled',
};

function WebhookAlerts() {
  const alerts = useRows(['webhook-alerts'], () => client.webhooks.listAlerts({ limit: 5 }));
  const { data: sources = [] } = useSources();
  const connections = useConnectionsOf([...new Set(alerts.data?.map(one => one.sourceId))]).data;
  if (!alerts.data?.length) return null;
  const nameOf = (sourceId: string) => sources.find(source => source.sourceId === sourceId)?.name ?? sourceId;
  return (
    <Stack gap="xs">
      <Heading>Recent alerts</Heading>
      {alerts.data.map(one => (
        <Alert
          key={`${one.raisedAt} ${one.connectionId} ${one.alertKind}`}
          color="orange"
          title={alertTitles[one.alertKind]}
        >
          <Group justify="space-between">
            <Text size="sm">
              <TextLink
                to="/webhooks/$source"
                params={{ source: one.sourceId }}
                size="sm"
                c="inherit"
                underline="always"
              >
                {nameOf(one.sourceId)}
              </TextLink>
              {' → '}
              <TextLink
                to="/webhooks/$source"
                params={{ source: one.sourceId }}
                search={{ tab: 'connections', connection: one.connectionId }}
                size="sm"
                c="inherit"
                underline="always"
              >
                {connections.find(known => known.connectionId === one.connectionId)?.name ?? one.connectionId}
              </TextLink>
              : {one.detail}
            </Text>
            <Text size="sm" title={formatTime(one.raisedAt)}>
              {formatAgo(one.raisedAt)}
            </Text>
          </Group>
        </Alert>
      ))}
    </Stack>
  );
}
