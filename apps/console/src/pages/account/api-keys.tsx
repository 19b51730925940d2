import { Button, Card, Group, Select, Stack, TextInput } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { useState } from 'react';
import { DataTable } from '../../components/display/data-table.tsx';
import { complain, fieldComplaints } from '../../components/feedback/complaint.ts';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { Confirm } from '../../components/fields/confirm.tsx';
import { OneTimeSecret } from '../../components/fields/one-time-secret.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { useAction, useSubmit } from '../../queries/actions.ts';
import { useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { useMay } from '../../queries/permissions.ts';
import { choicesOf, withCapital } from '../../text/capital.ts';
import { formatAgo, formatTime } from '../../text/format.ts';
import { useStepUp } from './step-up.tsx';

type Scope = 'read' | 'write' | 'admin';
type Key = ApiTypes['accounts.listKeys']['data']['data'][number];
type NewKeyBody = ApiTypes['accounts.createKey']['args']['body'];

const day = 24 * 60 * 60 * 1000;
const lives = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
];
const listOf = (text: string): string[] => text.split(/[\s,]+/).filter(part => part !== '');

const keysKey = ['keys'];

export function ApiKeys() {
  const [shown, setShown] = useState<string>();
  const keys = useRows(keysKey, () => client.accounts.listKeys());
  return (
    <Stack>
      <Permitted to="accounts.createKey">
        <Card withBorder>
          <NewKey onMade={setShown} />
        </Card>
      </Permitted>
      {shown !== undefined && <OneTimeSecret value={shown} onClose={() => setShown(undefined)} />}
      <Card withBorder>
        <Loaded query={keys}>{rows => <KeyTable rows={rows} />}</Loaded>
      </Card>
    </Stack>
  );
}

function NewKey({ onMade }: { onMade: (key: string) => void }) {
  const { guard, dialog } = useStepUp();
  const [scope, setScope] = useState<Scope>('write');
  const [days, setDays] = useState('');
  const create = useSubmit((body: NewKeyBody) => guard(() => client.accounts.createKey({ body })), {
    onSuccess: ({ data }) => onMade(data.key),
    // Errors of fields are shown at the field.
    onError: error => Object.keys(fieldComplaints(error)).length === 0 && complain(error),
    refreshes: [keysKey],
  });
  const complaints = fieldComplaints(create.error);
  const submit = submitHandler((text, form) => {
    const [tenants, addresses] = [listOf(text('tenants')), listOf(text('addresses'))];
    create.mutate(
      {
        name: text('name'),
        permissions: scope,
        ...(days !== '' && { expiresAt: new Date(Date.now() + Number(days) * day).toISOString() }),
        ...(tenants.length > 0 && { tenants }),
        ...(addresses.length > 0 && { addresses }),
      },
      { onSuccess: () => form.reset() },
    );
  });
  return (
    <>
      <form onSubmit={submit}>
        <Group align="end" className="stak-filters">
          <TextInput
            name="name"
            label="New key"
            placeholder="Production"
            required
            maxLength={100}
            error={complaints.name}
          />
          <Select
            label="Scope"
            data={choicesOf(['read', 'write', 'admin'])}
            value={scope}
            allowDeselect={false}
            onChange={value => setScope((value ?? 'write') as Scope)}
          />
          <Select
            label="Expires"
            data={lives}
            value={days}
            allowDeselect={false}
            onChange={value => setDays(value ?? '')}
          />
          <TextInput name="tenants" label="Tenants" placeholder="All" error={complaints.tenants} />
          <TextInput
            name="addresses"
            label="IP addresses"
            placeholder="192.0.2.0/24"
            error={complaints.addresses}
          />
          <Button type="submit" loading={create.isPending}>
            Create
          </Button>
        </Group>
      </form>
      {dialog}
    </>
  );
}

function KeyTable({ rows }: { rows: Key[] }) {
  const may = useMay();
  const revoke = useAction((keyId: string) => client.accounts.deleteKey({ keyId }), { refreshes: [keysKey] });
  return (
    <DataTable
      label="API keys"
      rows={rows}
      keyOf={row => row.keyId}
      empty={`There is no key yet.${may('accounts.createKey') ? ' Create one for your backend.' : ''}`}
      columns={[
        { label: 'Name', show: row => row.name },
        { label: 'Key', show: row => <span className="stak-mono">{row.keyPrefix}…</span> },
        { label: 'Scope', show: row => withCapital(row.permissions) },
        { label: 'Created', show: row => formatTime(row.createdAt) },
        { label: 'Expires', show: row => (row.expiresAt ? formatTime(row.expiresAt) : 'Never') },
        {
          label: 'Limited to',
          show: row => [...(row.tenants ?? []), ...(row.addresses ?? [])].join(', ') || '–',
        },
        { label: 'Last used', show: row => (row.lastUsedAt ? formatAgo(row.lastUsedAt) : 'Never') },
        {
          label: '',
          show: row => (
            <Permitted to="accounts.deleteKey">
              <Confirm
                title={`Revoke ${row.name}?`}
                text={`Everything that uses the key ${row.keyPrefix}… is refused immediately. A revoked key cannot be restored.`}
                button="Revoke"
                onConfirm={() => revoke.mutate(row.keyId)}
              >
                {ask => (
                  <Button size="compact-sm" variant="default" aria-label={`Revoke ${row.name}`} onClick={ask}>
                    Revoke
                  </Button>
                )}
              </Confirm>
            </Permitted>
          ),
        },
      ]}
    />
  );
}
