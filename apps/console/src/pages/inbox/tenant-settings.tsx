import { Card, Stack, Text, TextInput } from '@mantine/core';
import { StakError } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { Heading } from '../../components/display/section.tsx';
import { fieldComplaints } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { PermittedFields } from '../../components/feedback/permitted.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../components/fields/submit-row.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';

const nobodySaid = { data: { title: '', ttl: undefined, version: 0 }, etag: undefined };

// Defaults for all inboxes of the tenant. An inbox's own settings override them.
export function TenantSettings({ tenant_id }: { tenant_id: string }) {
  const settings = useQuery({
    queryKey: ['inbox-settings', tenant_id],
    queryFn: () => client.inbox.readSettings({ tenant_id }).catch(whenMissing),
  });
  const save = useSubmit(
    ({ body, etag }: { body: { title: string; ttl?: string }; etag: string | undefined }) =>
      client.inbox.writeSettings({ tenant_id, body }, etag === undefined ? {} : { ifMatch: etag }),
    { done: 'Saved.', refreshes: [['inbox-settings', tenant_id]] },
  );
  const submitOver = (etag: string | undefined) =>
    submitHandler(text => {
      const ttl = text('ttl');
      save.mutate({ body: { title: text('title'), ...(ttl && { ttl }) }, etag });
    });
  return (
    <Card withBorder component="section" aria-label="Tenant">
      <Heading>All inboxes of this tenant</Heading>
      <Text c="dimmed" size="sm" mb="sm">
        These apply where an inbox does not say otherwise.
      </Text>
      <Loaded query={settings}>
        {({ data, etag }) => (
          <form key={data.version} onSubmit={submitOver(etag)}>
            <PermittedFields to="inbox.writeSettings">
              <Stack gap="sm">
                <TextInput name="title" label="Title" required maxLength={500} defaultValue={data.title} />
                <TextInput
                  name="ttl"
                  label="Messages expire after"
                  error={fieldComplaints(save.error).ttl}
                  description="30d, 12h or 300m; at most 720d. Leave empty for 30d."
                  pattern="[1-9][0-9]*[dhms]"
                  defaultValue={data.ttl ?? ''}
                />
                {save.error && <Failure error={save.error} />}
                <SubmitRow isBusy={save.isPending}>Save</SubmitRow>
              </Stack>
            </PermittedFields>
          </form>
        )}
      </Loaded>
    </Card>
  );
}

function whenMissing(error: unknown): typeof nobodySaid {
  if (error instanceof StakError && error.code === 'inbox.settings_not_found') return nobodySaid;
  throw error;
}
