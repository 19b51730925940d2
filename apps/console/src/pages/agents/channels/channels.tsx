import { Alert, Button, Card, Group, Modal, SimpleGrid, Stack, Switch, Text } from '@mantine/core';
import { iterate } from '@stak/client';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Heading } from '../../../components/display/section.tsx';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { Permitted } from '../../../components/feedback/permitted.tsx';
import { client } from '../../../queries/api.ts';
import { useMay } from '../../../queries/permissions.ts';
import { type Tenant, useSettings } from '../../../queries/tenants.ts';
import { useSettingsChange } from '../../tenants/settings-change.ts';
import type { Settings } from '../../tenants/settings-draft.ts';
import { channelsKey } from '../queries.ts';
import { ChannelForm } from './channel-form.tsx';
import { channelNames, channelTypes } from './channel-kinds.ts';
import { ChannelTable } from './channel-table.tsx';

type Props = { tenant_id: string; status: Tenant['status'] };

export function Channels({ tenant_id, status }: Props) {
  const [isAdding, setIsAdding] = useState(false);
  const channels = useQuery({
    queryKey: channelsKey(tenant_id),
    queryFn: () => readChannels(tenant_id),
  });
  return (
    <Stack>
      {status === 'onboarding' && (
        <Alert color="blue" title="Not active yet">
          Channels reach this tenant once you activate it. Chat here works already.
        </Alert>
      )}
      <Enabled tenant_id={tenant_id} />
      <Card withBorder component="section" aria-label="Channels">
        <Group justify="space-between" mb="sm">
          <Heading>Channels</Heading>
          <Permitted to="tenants.claimChannel">
            <Button leftSection={<IconPlus size={16} />} onClick={() => setIsAdding(true)}>
              Add channel
            </Button>
          </Permitted>
        </Group>
        <Loaded query={channels}>{rows => <ChannelTable tenant_id={tenant_id} rows={rows} />}</Loaded>
      </Card>
      <Modal opened={isAdding} onClose={() => setIsAdding(false)} title="Add a channel">
        <ChannelForm tenant_id={tenant_id} onDone={() => setIsAdding(false)} />
      </Modal>
    </Stack>
  );
}

async function readChannels(tenant_id: string) {
  const page = { tenant_id, limit: 100 };
  const withSecrets = new Set<string>();
  for await (const one of iterate(client.agents.listChannelCredentials, page))
    withSecrets.add(`${one.type} ${one.channel_id}`);
  const channels = [];
  for await (const one of iterate(client.tenants.listChannels, page))
    channels.push({ ...one, hasSecrets: withSecrets.has(`${one.type} ${one.channel_id}`) });
  return channels;
}

const names = { dashboard: 'Console and API', ...channelNames };

const switchChannel =
  (type: string, isOn: boolean) =>
  ({ enabled_channels }: Settings) => {
    const others = enabled_channels.filter(channel => channel !== type);
    return { enabled_channels: isOn ? [...others, type] : others };
  };

// A tenant setting that is saved as soon as it is switched.
function Enabled({ tenant_id }: { tenant_id: string }) {
  const settings = useSettings(tenant_id);
  const change = useSettingsChange(tenant_id);
  const may = useMay();
  return (
    <Card withBorder component="section" aria-label="Where the agent answers">
      <Heading>Where the agent answers</Heading>
      <Text c="dimmed" size="sm" mb="sm">
        Messages from other channels are refused.
      </Text>
      <Loaded query={settings}>
        {({ settings: { enabled_channels } }) => (
          <SimpleGrid cols={{ base: 1, xs: 2, md: 5 }} spacing="sm">
            {(['dashboard', ...channelTypes] as const).map(type => (
              <Switch
                key={type}
                label={names[type]}
                checked={enabled_channels.includes(type)}
                disabled={change.isPending || !may('tenants.updateSettings')}
                onChange={event => change.mutate(switchChannel(type, event.currentTarget.checked))}
              />
            ))}
          </SimpleGrid>
        )}
      </Loaded>
    </Card>
  );
}
