import { Button, Card, Drawer, Group, Stack, Text } from '@mantine/core';
import type { Connection } from '@stak/client';
import { IconPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { StatusBadge } from '../../components/display/status-badge.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { Confirm } from '../../components/fields/confirm.tsx';
import { OneTimeSecret } from '../../components/fields/one-time-secret.tsx';
import { useAction } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { useMay } from '../../queries/permissions.ts';
import { counted, formatNumber } from '../../text/format.ts';
import { EditConnection, NewConnection } from './connection-form.tsx';
import { statusOf } from './connection-status.ts';
import { ConnectionTrial } from './connection-test.tsx';
import { useConnections } from './queries.ts';

const route = getRouteApi('/inside/webhooks/$source');

export function WebhookConnections({ sourceId }: { sourceId: string }) {
  const { connection: edited } = route.useSearch();
  const navigate = route.useNavigate();
  const setEdited = (connection: string | undefined) =>
    void navigate({ search: before => ({ ...before, connection }) });
  // A secret is shown only with its own connection, not with another one that the address leads to.
  const [made, setMade] = useState<{ connectionId: string; signingSecret: string }>();
  const connections = useConnections(sourceId);
  const current = connections.data?.find(one => one.connectionId === edited);
  const close = () => {
    setEdited(undefined);
    setMade(undefined);
  };
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text c="dimmed" size="sm">
          Every event goes to each connection whose filter it passes.
        </Text>
        <Permitted to="webhooks.createConnection">
          <Button leftSection={<IconPlus size={16} />} onClick={() => setEdited('new')}>
            New connection
          </Button>
        </Permitted>
      </Group>
      <Loaded query={connections}>
        {rows =>
          rows.length === 0 ? (
            <Text c="dimmed">There is no connection yet. Add one to deliver events to your own address.</Text>
          ) : (
            rows.map(row => (
              <ConnectionCard
                key={row.connectionId}
                connection={row}
                onEdit={() => setEdited(row.connectionId)}
              />
            ))
          )
        }
      </Loaded>
      <Drawer
        opened={edited !== undefined}
        onClose={close}
        position="right"
        size="xl"
        title={edited === 'new' ? 'New connection' : (current?.name ?? 'Connection')}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack>
          {made !== undefined && made.connectionId === edited && (
            <OneTimeSecret use="Deliveries are signed with this secret." value={made.signingSecret} />
          )}
          {edited === 'new' && (
            <NewConnection
              sourceId={sourceId}
              onCreated={created => {
                setEdited(created.connectionId);
                setMade(created);
              }}
            />
          )}
          {edited !== 'new' && edited !== undefined && <EditConnection key={edited} connectionId={edited} />}
          {current && (
            <>
              <Permitted to="webhooks.rotateSecret">
                <RotateSecret connectionId={current.connectionId} onRotated={setMade} />
              </Permitted>
              <Permitted to="webhooks.testConnection">
                <ConnectionTrial connectionId={current.connectionId} />
              </Permitted>
            </>
          )}
        </Stack>
      </Drawer>
    </Stack>
  );
}

type RotateProps = {
  connectionId: string;
  onRotated: (made: { connectionId: string; signingSecret: string }) => void;
};

function RotateSecret({ connectionId, onRotated }: RotateProps) {
  const rotate = useAction(async () => (await client.webhooks.rotateSecret({ connectionId })).data, {
    onSuccess: onRotated,
  });
  return (
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm" c="dimmed">
        Deliveries are signed. After a rotation they carry signatures of both secrets for 24 hours.
      </Text>
      <Button
        variant="default"
        size="xs"
        miw="max-content"
        loading={rotate.isPending}
        onClick={() => rotate.mutate()}
      >
        Rotate secret
      </Button>
    </Group>
  );
}

function ConnectionCard({ connection, onEdit }: { connection: Connection; onEdit: () => void }) {
  const { connectionId, sourceId, name, destinationUrl, status, filters, transform } = connection;
  const state = statusOf(connection);
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: ['connections', sourceId] });
  const isStopped = status !== 'active';
  const editLabel = useMay()('webhooks.editConnection') ? 'Edit and test' : 'Show';
  const edit = useAction(
    () => client.webhooks.editConnection({ connectionId, body: { status: isStopped ? 'active' : 'paused' } }),
    { onSuccess: refresh },
  );
  const remove = useAction(() => client.webhooks.deleteConnection({ connectionId }), { onSuccess: refresh });
  return (
    <Card withBorder>
      <Group justify="space-between" align="start">
        <div>
          <Group gap="xs">
            <Text fw={600}>{name}</Text>
            <StatusBadge status={state.status} label={state.label} />
          </Group>
          <Text className="stak-mono" mt={4}>
            {destinationUrl}
          </Text>
          <Text size="sm" c="dimmed" mt={4} className="stak-figures">
            {filters.length === 0 ? 'Every event' : counted(filters.length, 'rule')} ·{' '}
            {transform.type === 'passthrough' ? 'as received' : transform.type.replace('_', ' ')} ·{' '}
            {formatNumber(connection.deliveryCount)} delivered · {formatNumber(connection.failureCount)}{' '}
            failed
          </Text>
          {state.note !== undefined && <Text size="sm">{state.note}</Text>}
        </div>
        <Group gap="xs">
          <Button size="compact-sm" variant="default" aria-label={`${editLabel} ${name}`} onClick={onEdit}>
            {editLabel}
          </Button>
          <Permitted to="webhooks.editConnection">
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`${isStopped ? 'Resume' : 'Pause'} ${name}`}
              onClick={() => edit.mutate()}
            >
              {isStopped ? 'Resume' : 'Pause'}
            </Button>
          </Permitted>
          <Permitted to="webhooks.deleteConnection">
            <Confirm
              title={`Delete ${name}?`}
              text="Deliveries that are still waiting are cancelled."
              button="Delete connection"
              onConfirm={() => remove.mutate()}
            >
              {ask => (
                <Button size="compact-sm" variant="default" aria-label={`Delete ${name}`} onClick={ask}>
                  Delete
                </Button>
              )}
            </Confirm>
          </Permitted>
        </Group>
      </Group>
    </Card>
  );
}
