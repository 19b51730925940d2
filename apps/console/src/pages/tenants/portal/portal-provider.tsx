import { Button, Card, Checkbox, Code, Group, Stack, Text } from '@mantine/core';
import { type ApiTypes, StakError } from '@stak/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Heading } from '../../../components/display/section.tsx';
import { fieldComplaints } from '../../../components/feedback/complaint.ts';
import { Failure } from '../../../components/feedback/failure.tsx';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { PermittedFields } from '../../../components/feedback/permitted.tsx';
import {
  ProviderActions,
  ProviderFields,
  ProviderTest,
  readProviderFields,
} from '../../../components/fields/provider-fields.tsx';
import { submitHandler } from '../../../components/fields/submit-handler.ts';
import { useAction, useSubmit } from '../../../queries/actions.ts';
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
          <Heading>Single sign-on</Heading>
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
  const save = useSubmit(
    (body: ApiTypes['tenants.putPortalProvider']['args']['body']) =>
      client.tenants.putPortalProvider({ tenant_id, body }),
    { done: 'The provider is saved.', onSuccess: readAgain },
  );
  const remove = useAction(() => client.tenants.deletePortalProvider({ tenant_id }), {
    onSuccess: readAgain,
  });
  const test = useAction(async () => (await client.tenants.testPortalProvider({ tenant_id })).data);
  const submit = submitHandler(text => {
    const { issuer, clientId, clientSecret, domains } = readProviderFields(text);
    save.mutate({
      issuer,
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      domains,
      creates_users: text('creates_users') !== '',
      ...(known?.matches_addresses && { matches_addresses: true }),
    });
  });
  const complaints = fieldComplaints(save.error);
  return (
    <form onSubmit={submit}>
      <PermittedFields to="tenants.putPortalProvider">
        <Stack gap="sm">
          {save.error && Object.keys(complaints).length === 0 && <Failure error={save.error} />}
          <ProviderFields
            known={known ? { ...known, clientId: known.client_id } : undefined}
            complaints={{
              ...complaints,
              clientId: complaints.client_id,
              clientSecret: complaints.client_secret,
            }}
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
          {test.data && <ProviderTest isWorking={test.data.is_working} detail={test.data.detail} />}
          <Group justify="end">
            {known && (
              <ProviderActions
                test={test}
                remove={remove}
                what="the provider"
                consequence="Nobody can sign in to the portal through it after this. Present sessions stay valid."
              />
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
