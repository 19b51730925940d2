import { Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { client, messageOf } from '../../api.ts';
import { DataTable } from '../../data-table.tsx';
import { formatAgo, formatTime } from '../../format.ts';
import { Loaded } from '../../loaded.tsx';
import { OneTimeSecret } from '../../one-time-secret.tsx';

type Scope = 'read' | 'write' | 'admin';

export function ApiKeys() {
  const queries = useQueryClient();
  const [shown, setShown] = useState<string>();
  const [scope, setScope] = useState<Scope>('write');
  const refresh = () => queries.invalidateQueries({ queryKey: ['keys'] });
  const complain = (error: unknown) => notifications.show({ color: 'red', message: messageOf(error) });

  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: async () => (await client.accounts.listKeys()).data.data,
  });
  const create = useMutation({
    mutationFn: (name: string) => client.accounts.createKey({ body: { name, permissions: scope } }),
    onSuccess: ({ data }) => {
      setShown(data.key);
      return refresh();
    },
    onError: complain,
  });
  const revoke = useMutation({
    mutationFn: (keyId: string) => client.accounts.deleteKey({ keyId }),
    onSuccess: refresh,
    onError: complain,
  });

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    create.mutate(String(new FormData(form).get('name')), { onSuccess: () => form.reset() });
  };

  return (
    <Stack>
      <form onSubmit={submit}>
        <Group align="end">
          <TextInput name="name" label="New key" placeholder="Production" required maxLength={100} />
          <Select
            label="Scope"
            data={['read', 'write', 'admin']}
            value={scope}
            allowDeselect={false}
            onChange={value => setScope((value ?? 'write') as Scope)}
            w={120}
          />
          <Button type="submit" loading={create.isPending}>
            Create
          </Button>
        </Group>
      </form>
      {shown !== undefined && <OneTimeSecret value={shown} onClose={() => setShown(undefined)} />}
      <Loaded query={keys}>
        {rows => (
          <DataTable
            label="API keys"
            rows={rows}
            keyOf={row => row.keyId}
            empty="There is no key yet. Create one for your backend."
            columns={[
              { label: 'Name', show: row => row.name },
              { label: 'Key', show: row => <span className="stak-mono">{row.keyPrefix}…</span> },
              { label: 'Scope', show: row => row.permissions },
              { label: 'Created', show: row => formatTime(row.createdAt) },
              { label: 'Last used', show: row => (row.lastUsedAt ? formatAgo(row.lastUsedAt) : 'never') },
              {
                label: '',
                show: row => (
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`Revoke ${row.name}`}
                    onClick={() => revoke.mutate(row.keyId)}
                  >
                    Revoke
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Stack>
  );
}
