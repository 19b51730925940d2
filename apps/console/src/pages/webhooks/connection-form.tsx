import { Button, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ApiTypes, Connection, ConnectionWithSecret } from '@stak/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { complain, fieldComplaints } from '../../components/feedback/complaint.ts';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { isMissing } from '../../components/feedback/nothing-here.tsx';
import { Permitted, PermittedFields } from '../../components/feedback/permitted.tsx';
import { SaveFailure } from '../../components/feedback/save-failure.tsx';
import { CodeField } from '../../components/fields/code-field.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { saveOver, useFilling, type Versioned } from '../../queries/save-over.ts';
import { DeliverySettings, deliveryOf, draftOf } from './delivery-settings.tsx';
import { useEventBody } from './event-payload.tsx';
import { FilterBuilder } from './filter-builder.tsx';
import { connectionQuery } from './queries.ts';
import { RulesTrial, type Sample, useSample } from './rules-trial.tsx';
import { RulesWhatIf } from './rules-what-if.tsx';

type NewBody = ApiTypes['webhooks.createConnection']['args']['body'];
type Body = ApiTypes['webhooks.editConnection']['args']['body'];
type Kind = Connection['transform']['type'];

const kinds = [
  { value: 'passthrough', label: 'None: send as received' },
  { value: 'field_map', label: 'Map fields' },
  { value: 'javascript', label: 'JavaScript' },
];
const exampleMap = JSON.stringify(
  [
    { to: '$.kind', from: '$.type' },
    { to: '$.text', template: 'Paid: {{$.amount}}' },
  ],
  null,
  2,
);
const exampleCode = `function transform(event) {
  return { body: { kind: event.body.type } };
}`;

type NewProps = { sourceId: string; onCreated: (created: ConnectionWithSecret) => void };

export function NewConnection({ sourceId, onCreated }: NewProps) {
  const queries = useQueryClient();
  const create = async (body: Body) => {
    const { data } = await client.webhooks.createConnection({ sourceId, body: body as NewBody });
    await queries.invalidateQueries({ queryKey: ['connections', sourceId] });
    onCreated(data);
  };
  return <ConnectionForm sourceId={sourceId} onSave={create} />;
}

export function EditConnection({ connectionId }: { connectionId: string }) {
  const query = useQuery({
    ...connectionQuery(connectionId),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (isMissing(query.error)) return <Text>There is no such connection.</Text>;
  return <Loaded query={query}>{read => <SavedConnection read={read} />}</Loaded>;
}

// The fields of the form.
const fieldsOf = ({ name, destinationUrl, filters, transform, ...connection }: Connection) => {
  const { retryConfig, maxConcurrency, ratePerSecond, ordered } = connection;
  return { name, destinationUrl, filters, transform, retryConfig, maxConcurrency, ratePerSecond, ordered };
};

function SavedConnection({ read }: { read: Versioned<Connection> }) {
  const queries = useQueryClient();
  const { connectionId, sourceId } = read.data;
  const { round, filledWith, refill, goOn } = useFilling(read);
  const readNow = () => client.webhooks.readConnection({ connectionId });
  const save = async (body: Body) => {
    const saved = await saveOver(filledWith, {
      read: readNow,
      fieldsOf,
      save: ifMatch => client.webhooks.editConnection({ connectionId, body }, { ifMatch }),
    });
    goOn(saved);
    await queries.invalidateQueries({ queryKey: ['connections', sourceId] });
    notifications.show({ message: 'The connection is saved.' });
  };
  return (
    <ConnectionForm
      key={round}
      sourceId={sourceId}
      connection={filledWith.data}
      onSave={save}
      onReadAgain={() => readNow().then(refill, complain)}
    />
  );
}

type FormProps = {
  sourceId: string;
  connection?: Connection; // undefined for a new one
  onSave: (body: Body) => Promise<void>;
  onReadAgain?: () => void;
};

function ConnectionForm({ sourceId, connection, onSave, onReadAgain }: FormProps) {
  const given = connection?.transform;
  const [kind, setKind] = useState<Kind>(given?.type ?? 'passthrough');
  const [filters, setFilters] = useState(JSON.stringify(connection?.filters ?? [], null, 2));
  const [map, setMap] = useState(
    given?.type === 'field_map' ? JSON.stringify(given.fields, null, 2) : exampleMap,
  );
  const [keep, setKeep] = useState(keepOf(given) ?? false);
  const [delivery, setDelivery] = useState(() => draftOf(connection));
  const [code, setCode] = useState(given?.type === 'javascript' ? given.code : exampleCode);

  const save = useSubmit(async (names: { name: string; destinationUrl: string }) =>
    onSave({
      ...names,
      filters: parse('filter', filters),
      transform: transformOf(),
      ...deliveryOf(delivery, connection === undefined),
    } as Body),
  );
  const transformOf = (): unknown => {
    if (kind === 'field_map') return { type: kind, fields: parse('map', map), keep };
    return kind === 'javascript' ? { type: kind, code } : { type: kind };
  };
  const rulesOf = () => {
    try {
      return { filters: parse('filter', filters), transform: transformOf() } as Pick<
        NewBody,
        'filters' | 'transform'
      >;
    } catch {
      return undefined;
    }
  };
  const [sample, setSample] = useSample();
  const sampleBody = useSampleBody(sample);
  const submit = submitHandler(text => save.mutate({ name: text('name'), destinationUrl: text('url') }));
  const complaints = fieldComplaints(save.error);
  const hasField = Object.keys(complaints).length > 0;

  return (
    <form onSubmit={submit}>
      <PermittedFields to={connection ? 'webhooks.editConnection' : 'webhooks.createConnection'}>
        <Stack>
          {save.error && !hasField && <SaveFailure error={save.error} onReadAgain={onReadAgain} />}
          <TextInput
            name="name"
            label="Name"
            placeholder="Billing"
            required
            maxLength={100}
            data-autofocus={connection === undefined || undefined}
            defaultValue={connection?.name}
            error={complaints.name}
          />
          <TextInput
            name="url"
            type="url"
            label="Destination"
            placeholder="https://api.example.com/webhooks"
            required
            defaultValue={connection?.destinationUrl}
            error={complaints.destinationUrl}
          />
          <FilterBuilder value={filters} onChange={setFilters} error={complaints.filters} />
          <Select
            label="Transform"
            data={kinds}
            value={kind}
            allowDeselect={false}
            onChange={value => setKind((value ?? 'passthrough') as Kind)}
            error={kind === 'passthrough' && complaints.transform}
          />
          {kind === 'field_map' && (
            <CodeField
              label="Fields"
              description="For each field: “to”, and one of “from”, “value” or “template”"
              language="json"
              value={map}
              onChange={setMap}
              error={complaints.transform}
            />
          )}
          {kind === 'field_map' && (
            <Switch
              label="Keep the other fields"
              description="Otherwise the new body has only the mapped fields."
              checked={keep}
              onChange={event => setKeep(event.currentTarget.checked)}
            />
          )}
          {kind === 'javascript' && (
            <CodeField
              label="Code"
              description="Defines transform(event), which returns { body, headers? }, or null to drop the event. Ctrl+Space suggests the fields of the event."
              language="javascript"
              value={code}
              onChange={setCode}
              sample={sampleBody}
              error={complaints.transform}
            />
          )}
          <Permitted to="webhooks.tryRules">
            <RulesTrial sourceId={sourceId} rules={rulesOf()} sample={sample} onSample={setSample} />
          </Permitted>
          {connection && (
            <Permitted to="webhooks.whatIf">
              <RulesWhatIf
                connection={connection}
                rules={rulesOf()}
                onSave={rules => onSave(rules as Body)}
              />
            </Permitted>
          )}
          <DeliverySettings
            draft={delivery}
            complaints={complaints}
            onChange={part => setDelivery(before => ({ ...before, ...part }))}
          />
          <Button type="submit" loading={save.isPending}>
            {connection ? 'Save' : 'Create connection'}
          </Button>
        </Stack>
      </PermittedFields>
    </form>
  );
}

// The parsed body, whose fields complete a script.
function useSampleBody({ eventId, body }: Sample): unknown {
  const stored = useEventBody(eventId ?? undefined);
  const text = eventId === null ? body : stored.data && new TextDecoder().decode(stored.data);
  return useMemo(() => {
    try {
      return text === undefined ? undefined : (JSON.parse(text) as unknown);
    } catch {
      return undefined;
    }
  }, [text]);
}

const keepOf = (given: Connection['transform'] | undefined): boolean | undefined =>
  given?.type === 'field_map' ? given.keep : undefined;

function parse(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The ${what} is not JSON: ${(error as Error).message}`);
  }
}
