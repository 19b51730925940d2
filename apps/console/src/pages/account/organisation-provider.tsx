import { Card, Code, Group, Select, Stack, Text } from '@mantine/core';
import { StakError } from '@stak/client';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Heading } from '../../components/display/section.tsx';
import { fieldComplaints } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import {
  ProviderActions,
  ProviderFields,
  ProviderTest,
  readProviderFields,
} from '../../components/fields/provider-fields.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../components/fields/submit-row.tsx';
import { useAction, useSubmit } from '../../queries/actions.ts';
import { client, messageOf } from '../../queries/api.ts';
import { useFilling } from '../../queries/save-over.ts';
import { choicesOf } from '../../text/capital.ts';
import { useStepUp } from './step-up.tsx';

type Settings = Awaited<ReturnType<typeof client.accounts.readOrganisationProvider>>['data'];
type Role = 'admin' | 'member' | 'viewer';

const providerQuery = queryOptions({
  queryKey: ['organisation-provider'],
  queryFn: async (): Promise<Settings | null> => {
    try {
      return (await client.accounts.readOrganisationProvider()).data;
    } catch (error) {
      if (error instanceof StakError && error.status === 404) return null;
      throw error;
    }
  },
});

// The identity provider of the organisation. Shown to owners.
export function OrganisationProvider() {
  const settings = useQuery(providerQuery);
  return (
    <Card withBorder component="section" aria-label="Single sign-on">
      <Stack maw={720}>
        <Heading>Single sign-on</Heading>
        <Text size="sm">
          Members sign in through your OpenID Connect provider. People who already have an account link it
          themselves; an e-mail address alone never opens an account.
        </Text>
        <Loaded query={settings}>{found => <Found settings={found} />}</Loaded>
      </Stack>
    </Card>
  );
}

function Found({ settings }: { settings: Settings | null }) {
  const queries = useQueryClient();
  const { round, filledWith, refill } = useFilling(settings);
  const showAgain = async () => refill(await queries.fetchQuery({ ...providerQuery, staleTime: 0 }));
  return (
    <>
      {settings && <Current settings={settings} onRemoved={showAgain} />}
      <ProviderForm key={round} settings={filledWith} onSaved={showAgain} />
    </>
  );
}

function Current({ settings, onRemoved }: { settings: Settings; onRemoved: () => Promise<void> }) {
  const test = useAction(async () => (await client.accounts.testOrganisationProvider()).data);
  const remove = useAction(() => client.accounts.removeOrganisationProvider(), { onSuccess: onRemoved });
  return (
    <>
      <Text size="sm">
        Redirect address, for the provider: <Code className="stak-break">{settings.redirectUri}</Code>
      </Text>
      <Text size="sm">
        Sign-in page, for your people: <Code className="stak-break">{settings.signInUrl}</Code>
      </Text>
      {test.data && <ProviderTest {...test.data} />}
      <Group>
        <ProviderActions
          test={test}
          remove={remove}
          what="single sign-on"
          consequence="Nobody can sign in through the provider after this. Members stay members."
        />
      </Group>
    </>
  );
}

type FormProps = { settings: Settings | null; onSaved: () => Promise<void> };

function ProviderForm({ settings, onSaved }: FormProps) {
  const { guard, dialog } = useStepUp();
  const [defaultRole, setDefaultRole] = useState<Role>((settings?.defaultRole as Role) ?? 'member');
  const save = useSubmit(
    (body: Parameters<typeof client.accounts.changeOrganisationProvider>[0]['body']) =>
      guard(() => client.accounts.changeOrganisationProvider({ body })),
    { done: 'Single sign-on is saved.', onSuccess: onSaved },
  );
  const submit = submitHandler(text => {
    const { clientSecret, ...fields } = readProviderFields(text);
    save.mutate({ ...fields, ...(clientSecret !== undefined && { clientSecret }), defaultRole });
  });
  const complaints = fieldComplaints(save.error);
  const refused = save.error instanceof StakError && save.error.code === 'accounts.provider_refused';
  const isAtField = refused || Object.keys(complaints).length > 0;
  return (
    <form onSubmit={submit} aria-label="Provider">
      <Stack>
        {save.error !== null && !isAtField && <Failure error={save.error} />}
        <ProviderFields
          known={settings ?? undefined}
          complaints={{ ...(refused && { issuer: messageOf(save.error) }), ...complaints }}
        />
        <Select
          label="Role of new members"
          data={choicesOf(['admin', 'member', 'viewer'])}
          value={defaultRole}
          allowDeselect={false}
          onChange={value => setDefaultRole((value ?? 'member') as Role)}
        />
        <SubmitRow isBusy={save.isPending}>Save</SubmitRow>
      </Stack>
      {dialog}
    </form>
  );
}
