import {
  Alert,
  Button,
  Card,
  Checkbox,
  Code,
  Group,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type ApiTypes, StakError } from '@stak/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { complain, fieldComplaints } from '../../../components/feedback/complaint.ts';
import { Failure } from '../../../components/feedback/failure.tsx';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { PermittedFields } from '../../../components/feedback/permitted.tsx';
import { Confirm } from '../../../components/fields/confirm.tsx';
import { client } from '../../../queries/api.ts';
import { portalKey } from '../../../queries/tenants.ts';

type Provider = ApiTypes['tenants.getPortalProvider']['data'];
const providerKey = (tenant_id: string) => ['portal-provider', tenant_id];

/** The OpenID Connect provider through which the users of a tenant sign in to the portal. */
export function PortalProvider({ tenant_id }: { tenant_id: string }) {
  const provider = useQuery({
    queryKey: providerKey(tenant_id),
    queryFn: async (): Promise<Provider | null> => {
      try {
        return (await client.tenants.getPortalProvider({ tenant_id })).data;
      } catch (error) {
        if (error instanceof StakError && error.status === 404) return null;
        throw error;
      }
    },
  });
  return (
    <Card withBorder component="section" aria-label="Provider of the tenant">
      <Stack gap="sm" maw={720}>
        <div>
          <Title order={3} size="h4">
            Single sign-on
          </Title>
          <Text c="dimmed" size="sm">
            Users sign in to the portal through the tenant’s own OpenID Connect provider.
          </Text>
        </div>
        <Loaded query={provider}>
          {known => <ProviderForm key={known?.issuer ?? ''} tenant_id={tenant_id} known={known} />}
        </Loaded>
      </Stack>
    </Card>
  );
}

function ProviderForm({ tenant_id, known }: { tenant_id: string; known: Provider | null }) {
  const queries = useQueryClient();
  const readAgain = () =>
    Promise.all(
      [providerKey(tenant_id), portalKey(tenant_id)].map(queryKey => queries.invalidateQueries({ queryKey })),
    );
  const save = useMutation({
    mutationFn: (body: ApiTypes['tenants.putPortalProvider']['args']['body']) =>
      client.tenants.putPortalProvider({ tenant_id, body }),
    onSuccess: async () => {
      notifications.show({ message: 'The provider is saved.' });
      await readAgain();
    },
  });
  const remove = useMutation({
    mutationFn: () => client.tenants.deletePortalProvider({ tenant_id }),
    onSuccess: readAgain,
    onError: complain,
  });
  const test = useMutation({
    mutationFn: async () => (await client.tenants.testPortalProvider({ tenant_id })).data,
    onError: complain,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    const client_secret = text('client_secret');
    save.mutate({
      issuer: text('issuer'),
      client_id: text('client_id'),
      ...(client_secret !== '' && { client_secret }),
      domains: text('domains')
        .split(/[\s,]+/)
        .filter(Boolean),
      creates_users: fields.has('creates_users'),
      ...(known?.matches_addresses && { matches_addresses: true }),
    });
  };
  const complaints = fieldComplaints(save.error);
  return (
    <form onSubmit={submit}>
      <PermittedFields to="tenants.putPortalProvider">
        <Stack gap="sm">
          {save.error && Object.keys(complaints).length === 0 && <Failure error={save.error} />}
          <TextInput
            name="issuer"
            label="Issuer"
            placeholder="https://login.example.com"
            required
            defaultValue={known?.issuer}
            error={complaints.issuer}
          />
          <TextInput
            name="client_id"
            label="Client ID"
            required
            defaultValue={known?.client_id}
            error={complaints.client_id}
          />
          <PasswordInput
            name="client_secret"
            label="Client secret"
            description={known ? 'Leave empty to keep the present one of the same issuer' : undefined}
            required={known === null}
            autoComplete="off"
            error={complaints.client_secret}
          />
          <TextInput
            name="domains"
            label="E-mail domains that may sign in"
            placeholder="example.com, example.org"
            required
            defaultValue={known?.domains.join(', ')}
            error={complaints.domains}
          />
          <Checkbox
            name="creates_users"
            label="People who are not users yet become members"
            defaultChecked={known?.creates_users ?? false}
          />
          {known && (
            <Text size="sm">
              Redirect address, for the provider: <Code className="stak-break">{known.redirect_uri}</Code>
            </Text>
          )}
          {test.data && (
            <Alert
              color={test.data.is_working ? undefined : 'red'}
              title={test.data.is_working ? 'The provider answers' : 'The provider does not work'}
            >
              {test.data.detail}
            </Alert>
          )}
          <Group justify="end">
            {known && (
              <>
                <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
                  Test the provider
                </Button>
                <Confirm
                  title="Remove the provider?"
                  text="Nobody can sign in to the portal through it after this. Present sessions stay valid."
                  button="Remove"
                  onConfirm={() => remove.mutate()}
                >
                  {ask => (
                    <Button variant="default" color="red" loading={remove.isPending} onClick={ask}>
                      Remove the provider
                    </Button>
                  )}
                </Confirm>
              </>
            )}
            <Button type="submit" loading={save.isPending}>
              Save the provider
            </Button>
          </Group>
        </Stack>
      </PermittedFields>
    </form>
  );
}
