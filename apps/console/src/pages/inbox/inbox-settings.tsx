import { Card, Group, NumberInput, Select, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import type { Inbox } from '@stak/client';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Heading } from '../../components/display/section.tsx';
import { complain, fieldComplaints } from '../../components/feedback/complaint.ts';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { PermittedFields } from '../../components/feedback/permitted.tsx';
import { SaveFailure } from '../../components/feedback/save-failure.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../components/fields/submit-row.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { useFilling, type Versioned, versioned } from '../../queries/save-over.ts';
import { CategoryTtls } from './category-ttls.tsx';
import { type InboxPath, inboxesKey } from './queries.ts';

type Body = Parameters<typeof client.inbox.writeInbox>[0]['body'];

export function InboxSettings({ inboxPath }: { inboxPath: InboxPath }) {
  const { tenant_id, inbox_key } = inboxPath;
  const inbox = useQuery(inboxQuery(inboxPath));
  return (
    <Card withBorder component="section" aria-label="Inbox settings">
      <Heading mb="sm">This inbox</Heading>
      <Loaded query={inbox}>
        {read => <Settings key={`${tenant_id}/${inbox_key}`} inboxPath={inboxPath} read={read} />}
      </Loaded>
    </Card>
  );
}

const inboxQuery = (inboxPath: InboxPath) =>
  queryOptions({
    queryKey: ['inbox', inboxPath.tenant_id, inboxPath.inbox_key],
    queryFn: async () => versioned(await client.inbox.readInbox(inboxPath)),
  });

function Settings({ inboxPath, read }: { inboxPath: InboxPath; read: Versioned<Inbox> }) {
  const queries = useQueryClient();
  const { round, filledWith, refill } = useFilling(read);
  const readNow = () => queries.fetchQuery({ ...inboxQuery(inboxPath), staleTime: 0 });
  const save = useSubmit(
    // If somebody else saved in between, the server refuses instead of overwriting.
    async (body: () => Body) =>
      client.inbox.writeInbox({ ...inboxPath, body: body() }, { ifMatch: filledWith.etag ?? '*' }),
    {
      done: 'Saved.',
      onSuccess: async () => refill(await readNow()),
      refreshes: [inboxesKey(inboxPath.tenant_id)],
    },
  );
  const readAgain = async () => {
    refill(await readNow());
    save.reset();
  };
  return (
    <Stack gap="sm">
      <ConfigForm
        key={round}
        config={filledWith.data}
        isBusy={save.isPending}
        complaints={fieldComplaints(save.error)}
        onSave={save.mutate}
      />
      {save.error && <SaveFailure error={save.error} onReadAgain={() => void readAgain().catch(complain)} />}
    </Stack>
  );
}

const lateChoices = [
  { value: 'all', label: 'Everything sent to everyone so far' },
  { value: 'last', label: 'The last few' },
  { value: 'none', label: 'Nothing from before' },
];

function ConfigForm({
  config,
  isBusy,
  complaints,
  onSave,
}: {
  config: Inbox;
  isBusy: boolean;
  complaints: Readonly<Record<string, string>>;
  onSave: (body: () => Body) => void;
}) {
  const joiners = config.late_joiners ?? 'all';
  const [late, setLate] = useState(typeof joiners === 'object' ? 'last' : joiners);
  const [last, setLast] = useState<number | string>(typeof joiners === 'object' ? joiners.last : 10);
  const [ttl, setTtl] = useState(config.ttl ?? {});
  const [isUnique, setIsUnique] = useState(config.unique_host_system_ids ?? true);

  const submit = submitHandler(text => {
    onSave(() => ({
      title: text('title'),
      description: text('description'),
      ttl,
      late_joiners: late === 'last' ? { last: Number(last) } : (late as 'all' | 'none'),
      unique_host_system_ids: isUnique,
      cta_schemes: text('cta_schemes')
        .split(/[\s,]+/)
        .filter(Boolean),
      ...(text('schema').trim() && { schema: parseSchema(text('schema')) }),
    }));
  });

  return (
    <form onSubmit={submit}>
      <PermittedFields to="inbox.writeInbox">
        <Stack gap="sm">
          <TextInput name="title" label="Title" required maxLength={500} defaultValue={config.title} />
          <TextInput
            name="description"
            label="Description"
            maxLength={2000}
            defaultValue={config.description}
          />
          <CategoryTtls ttl={ttl} onChange={setTtl} complaint={complaints.ttl} />
          <Group align="end">
            <Select
              label="New users see"
              data={lateChoices}
              value={late}
              allowDeselect={false}
              onChange={value => setLate(value ?? 'all')}
              flex={1}
              miw={220}
            />
            {late === 'last' && (
              <NumberInput
                label="How many"
                min={1}
                max={1000}
                value={last}
                onChange={setLast}
                w={110}
                required
              />
            )}
          </Group>
          <Switch
            label="Your own ids are unique"
            description="A second message with the same host_system_id is not sent again."
            checked={isUnique}
            onChange={event => setIsUnique(event.currentTarget.checked)}
          />
          <TextInput
            name="cta_schemes"
            label="Schemes of links"
            error={complaints.cta_schemes}
            description="Schemes of your own apps, such as acme-app. https, http and mailto are always allowed."
            defaultValue={(config.cta_schemes ?? []).join(', ')}
          />
          <Textarea
            name="schema"
            label="Schema of message bodies"
            error={complaints.schema}
            description="A JSON Schema. Leave empty to allow anything."
            autosize
            minRows={2}
            maxRows={12}
            classNames={{ input: 'stak-mono' }}
            spellCheck={false}
            defaultValue={config.schema ? JSON.stringify(config.schema, null, 2) : ''}
          />
          <SubmitRow isBusy={isBusy}>Save</SubmitRow>
        </Stack>
      </PermittedFields>
    </form>
  );
}

function parseSchema(text: string): { [name: string]: unknown } {
  try {
    return JSON.parse(text) as { [name: string]: unknown };
  } catch {
    throw new Error('The schema is not JSON. Look for a missing quote, comma or bracket.');
  }
}
