import { Button, Code, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { Failure } from '../../../components/feedback/failure.tsx';
import { CopyIcon } from '../../../components/fields/copy.tsx';
import { submitHandler } from '../../../components/submit-handler.ts';
import { useSubmit } from '../../../queries/actions.ts';
import { client } from '../../../queries/api.ts';
import { channelsKey } from '../queries.ts';
import { type ChannelType, channelKinds, webhookAddress } from './channel-kinds.ts';

type Props = { tenant_id: string; type: ChannelType; channel_id: string; onDone: () => void };

export function SecretsForm({ tenant_id, type, channel_id, onDone }: Props) {
  const { secrets, tell } = channelKinds[type];
  const address = webhookAddress(type, channel_id);
  const save = useSubmit(
    (body: Record<string, string>) =>
      client.agents.putChannelCredentials({ tenant_id, type, channel_id, body }),
    {
      done: 'The secrets are stored encrypted and never shown again.',
      onSuccess: onDone,
      refreshes: [channelsKey(tenant_id)],
    },
  );
  const submit = submitHandler(text =>
    save.mutate(Object.fromEntries(Object.keys(secrets).map(name => [name, text(name).trim()]))),
  );
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {save.error && <Failure error={save.error} />}
        {Object.entries(secrets).map(([name, label]) => (
          <PasswordInput
            key={name}
            name={name}
            label={label}
            required
            maxLength={4_096}
            autoComplete="off"
            visibilityToggleButtonProps={{ 'aria-label': `Show or hide: ${label}` }}
          />
        ))}
        <Text size="sm">Then tell the provider where to deliver. {tell}</Text>
        <Group gap={4} wrap="nowrap">
          <Code className="stak-break">{address}</Code>
          <CopyIcon value={address} label="Copy the address" />
        </Group>
        <Group justify="end">
          <Button variant="default" onClick={onDone}>
            Later
          </Button>
          <Button type="submit" loading={save.isPending}>
            Save secrets
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
