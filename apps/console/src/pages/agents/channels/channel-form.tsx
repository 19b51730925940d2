import { Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { fieldComplaints } from '../../../components/feedback/complaint.ts';
import { Failure } from '../../../components/feedback/failure.tsx';
import { submitHandler } from '../../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../../components/fields/submit-row.tsx';
import { useSubmit } from '../../../queries/actions.ts';
import { client } from '../../../queries/api.ts';
import { channelsKey } from '../queries.ts';
import { type ChannelType, channelKinds, channelNames, channelTypes } from './channel-kinds.ts';
import { SecretsForm } from './secrets-form.tsx';

type Props = { tenant_id: string; onDone: () => void };

// Claims the channel first, because it can belong to one tenant only, and then stores its secrets.
export function ChannelForm({ tenant_id, onDone }: Props) {
  const [type, setType] = useState<ChannelType>('slack');
  const claim = useSubmit(
    (channel_id: string) => client.tenants.claimChannel({ tenant_id, body: { type, channel_id } }),
    { refreshes: [channelsKey(tenant_id)] },
  );
  const submit = submitHandler(text => claim.mutate(text('id').trim()));
  if (claim.data)
    return (
      <Stack>
        <Text size="sm">
          {channelNames[type]} {claim.data.data.channel_id} is this tenant's. Give its secrets now or later.
        </Text>
        <SecretsForm
          tenant_id={tenant_id}
          type={type}
          channel_id={claim.data.data.channel_id}
          onDone={onDone}
        />
      </Stack>
    );
  return (
    <form onSubmit={submit}>
      <Stack>
        {claim.error && <Failure error={claim.error} />}
        <Select
          label="Provider"
          data={channelTypes.map(value => ({ value, label: channelNames[value] }))}
          value={type}
          allowDeselect={false}
          onChange={value => setType((value ?? 'slack') as ChannelType)}
        />
        <TextInput
          name="id"
          label={channelKinds[type].idLabel}
          required
          maxLength={200}
          error={fieldComplaints(claim.error).channel_id}
          data-autofocus
        />
        <SubmitRow isBusy={claim.isPending}>Add channel</SubmitRow>
      </Stack>
    </form>
  );
}
