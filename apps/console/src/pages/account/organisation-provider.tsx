import {
  Alert,
  Button,
  Card,
  Code,
  Group,
  PasswordInput,
  Select,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { StakError } from '@stak/client';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { complain, fieldComplaints } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Confirm } from '../../components/fields/confirm.tsx';
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
        <Title order={3} size="h4">
          Single sign-on
        </Title>
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
  const test = useMutation({
    mutationFn: async () => (await client.accounts.testOrganisationProvider()).data,
    onError: complain,
  });
  const remove = useMutation({
    mutationFn: () => client.accounts.removeOrganisationProvider(),
    onSuccess: onRemoved,
    onError: complain,
  });
  return (
    <>
      <Text size="sm">
        Redirect address, for the provider: <Code className="stak-break">{settings.redirectUri}</Code>
      </Text>
      <Text size="sm">
        Sign-in page, for your people: <Code className="stak-break">{settings.signInUrl}</Code>
      </Text>
      {test.data && (
        <Alert
          color={test.data.isWorking ? undefined : 'red'}
          title={test.data.isWorking ? 'The provider answers' : 'The provider does not work'}
        >
          {test.data.detail}
        </Alert>
      )}
      <Group>
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          Test the provider
        </Button>
        <Confirm
          title="Remove single sign-on?"
          text="Nobody can sign in through the provider after this. Members stay members."
          button="Remove"
          onConfirm={() => remove.mutate()}
        >
          {ask => (
            <Button variant="default" color="red" loading={remove.isPending} onClick={ask}>
              Remove single sign-on
            </Button>
          )}
        </Confirm>
      </Group>
    </>
  );
}

type FormProps = { settings: Settings | null; onSaved: () => Promise<void> };

function ProviderForm({ settings, onSaved }: FormProps) {
  const { guard, dialog } = useStepUp();
  const [defaultRole, setDefaultRole] = useState<Role>((settings?.defaultRole as Role) ?? 'member');
  const save = useMutation({
    mutationFn: (body: Parameters<typeof client.accounts.changeOrganisationProvider>[0]['body']) =>
      guard(() => client.accounts.changeOrganisationProvider({ body })),
    onSuccess: async () => {
      notifications.show({ message: 'Single sign-on is saved.' });
      await onSaved();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    save.mutate({
      issuer: text('issuer'),
      clientId: text('clientId'),
      ...(text('clientSecret') !== '' && { clientSecret: text('clientSecret') }),
      domains: text('domains')
        .split(/[\s,]+/)
        .filter(Boolean),
      defaultRole,
    });
  };
  const complaints = fieldComplaints(save.error);
  const refused = save.error instanceof StakError && save.error.code === 'accounts.provider_refused';
  const isAtField = refused || Object.keys(complaints).length > 0;
  return (
    <form onSubmit={submit} aria-label="Provider">
      <Stack>
        {save.error !== null && !isAtField && <Failure error={save.error} />}
        <TextInput
          name="issuer"
          label="Issuer"
          placeholder="https://login.example.com"
          required
          defaultValue={settings?.issuer}
          error={complaints.issuer ?? (refused && messageOf(save.error))}
        />
        <TextInput
          name="clientId"
          label="Client ID"
          required
          defaultValue={settings?.clientId}
          error={complaints.clientId}
        />
        <PasswordInput
          name="clientSecret"
          label="Client secret"
          description={settings ? 'Leave empty to keep the present one of the same issuer' : undefined}
          required={settings === null}
          autoComplete="off"
          error={complaints.clientSecret}
        />
        <TextInput
          name="domains"
          label="E-mail domains that may sign in"
          placeholder="example.com, example.org"
          required
          defaultValue={settings?.domains.join(', ')}
          error={complaints.domains}
        />
        <Select
          label="Role of new members"
          data={choicesOf(['admin', 'member', 'viewer'])}
          value={defaultRole}
          allowDeselect={false}
          onChange={value => setDefaultRole((value ?? 'member') as Role)}
        />
        <Group justify="end">
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
      {dialog}
    </form>
  );
}
