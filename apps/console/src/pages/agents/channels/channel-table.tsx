import { Group, Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { DataTable } from '../../../components/display/data-table.tsx';
import { StatusBadge } from '../../../components/display/status-badge.tsx';
import { ActionMenu } from '../../../components/fields/action-menu.tsx';
import { CopyIcon } from '../../../components/fields/copy.tsx';
import { useAction } from '../../../queries/actions.ts';
import { client } from '../../../queries/api.ts';
import { channelsKey } from '../queries.ts';
import { channelNames, isChannelType, webhookAddress } from './channel-kinds.ts';
import { SecretsForm } from './secrets-form.tsx';

type Channel = { type: string; channel_id: string; hasSecrets: boolean };
type Props = { tenant_id: string; rows: Channel[] };

export function ChannelTable({ tenant_id, rows }: Props) {
  const [chosen, setChosen] = useState<Channel>();
  const close = () => setChosen(undefined);
  return (
    <>
      <DataTable
        label="Channels"
        rows={rows}
        keyOf={row => `${row.type} ${row.channel_id}`}
        empty="There is no channel yet. Add one and the agent answers in Slack, Teams, Telegram or WhatsApp."
        columns={[
          {
            label: 'Channel',
            show: row => (
              <>
                <Text size="sm" fw={600}>
                  {isChannelType(row.type) ? channelNames[row.type] : row.type}
                </Text>
                <span className="stak-mono">{row.channel_id}</span>
              </>
            ),
          },
          {
            label: 'Secrets',
            show: row => (
              <StatusBadge
                status={row.hasSecrets ? 'ready' : 'retrying'}
                label={row.hasSecrets ? 'given' : 'missing'}
              />
            ),
          },
          { label: 'Address for the provider', show: showAddress },
          {
            label: '',
            show: row => <ChannelMenu tenant_id={tenant_id} channel={row} onSecrets={() => setChosen(row)} />,
          },
        ]}
      />
      <Modal opened={chosen !== undefined} onClose={close} title="Secrets of this channel">
        {chosen && isChannelType(chosen.type) && (
          <SecretsForm
            tenant_id={tenant_id}
            type={chosen.type}
            channel_id={chosen.channel_id}
            onDone={close}
          />
        )}
      </Modal>
    </>
  );
}

function showAddress({ type, channel_id }: Channel) {
  if (!isChannelType(type)) return '–';
  const address = webhookAddress(type, channel_id);
  return (
    <Group gap={4} wrap="nowrap">
      <span className="stak-mono">{address}</span>
      <CopyIcon value={address} label={`Copy the address of ${channelNames[type]} ${channel_id}`} />
    </Group>
  );
}

type MenuProps = { tenant_id: string; channel: Channel; onSecrets: () => void };

function ChannelMenu({ tenant_id, channel: { type, channel_id, hasSecrets }, onSecrets }: MenuProps) {
  const queries = useQueryClient();
  const release = useAction(
    async () => {
      // Secrets first: without them, nothing the channel sends is accepted.
      if (hasSecrets && isChannelType(type))
        await client.agents.deleteChannelCredentials({ tenant_id, type, channel_id });
      await client.tenants.releaseChannel({ tenant_id, type, channel_id });
    },
    { onSettled: () => queries.invalidateQueries({ queryKey: channelsKey(tenant_id) }) },
  );
  return (
    <ActionMenu
      label={`Actions of ${type} ${channel_id}`}
      actions={[
        ...(isChannelType(type)
          ? [
              {
                label: hasSecrets ? 'Replace secrets…' : 'Give secrets…',
                needs: 'agents.putChannelCredentials' as const,
                onClick: onSecrets,
              },
            ]
          : []),
        {
          label: 'Remove…',
          needs: 'tenants.releaseChannel',
          question: {
            title: 'Remove this channel?',
            text: 'Its secrets are deleted and its messages are refused. Another tenant can then claim it.',
            button: 'Remove',
          },
          onClick: () => release.mutate(),
        },
      ]}
    />
  );
}
