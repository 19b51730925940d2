import { Button, Card, Group, MultiSelect, Select, Stack, Text } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { useState } from 'react';
import { Heading } from '../../components/display/section.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { PermittedFields } from '../../components/feedback/permitted.tsx';
import { Confirm } from '../../components/fields/confirm.tsx';
import { OneTimeSecret } from '../../components/fields/one-time-secret.tsx';
import { useAction, useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { useUserChoices } from '../../queries/tenants.ts';
import { formatTime } from '../../text/format.ts';

type Minted = ApiTypes['tenants.mintToken']['data'];

const scopes = [
  { value: 'inbox:read', label: 'Read the inbox' },
  { value: 'inbox:write', label: 'Mark messages' },
  { value: 'tasks:read', label: 'Read tasks' },
  { value: 'tasks:write', label: 'Change tasks' },
  { value: 'agents:chat', label: 'Talk to the agent' },
  { value: 'lake:read', label: 'SQL and insights' },
  { value: 'profile:read', label: 'Read their profile' },
];
const lifetimes = [
  { value: '900', label: '15 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
];

// Backends mint tokens through the API; this form makes one to try the API as a user.
export function Tokens({ tenant_id, user }: { tenant_id: string; user: string | undefined }) {
  const [sub, setSub] = useState<string | null>(user ?? null);
  const [scope, setScope] = useState(['inbox:read', 'inbox:write']);
  const [ttl, setTtl] = useState('3600');
  const choices = useUserChoices(tenant_id, sub);
  const mint = useSubmit(async (): Promise<Minted> => {
    const body = { sub: sub!, scope: scope.join(' '), ttl_seconds: Number(ttl) };
    return (await client.tenants.mintToken({ tenant_id, body })).data;
  });
  const revoke = useAction(
    () => client.tenants.revokeTokens({ tenant_id, body: sub === null ? {} : { sub } }),
    {
      done: 'The tokens are revoked.',
      onSuccess: () => mint.reset(),
    },
  );
  return (
    <Card withBorder maw={720}>
      <Stack>
        <div>
          <Heading>Tokens of users</Heading>
          <Text c="dimmed" size="sm">
            Your backend mints a token when one of the tenant’s users signs in to your product. Mint one here
            to try the API as that user.
          </Text>
        </div>
        {mint.error && <Failure error={mint.error} />}
        <PermittedFields to="tenants.mintToken">
          <Stack>
            <Select
              label="User"
              placeholder="Choose a user"
              data={choices}
              value={sub}
              searchable
              onChange={setSub}
              nothingFoundMessage="There is no such user."
            />
            <MultiSelect
              label="What it may do"
              description="Grant no more than the page or app needs."
              data={scopes}
              value={scope}
              onChange={setScope}
            />
            <Select
              label="Valid for"
              data={lifetimes}
              value={ttl}
              allowDeselect={false}
              onChange={value => setTtl(value!)}
            />
            <Group justify="space-between">
              <Confirm
                title={sub === null ? 'Revoke the tokens of all users?' : `Revoke the tokens of ${sub}?`}
                text="They stop working immediately, on every device."
                button="Revoke"
                onConfirm={() => revoke.mutate()}
              >
                {ask => (
                  <Button variant="default" loading={revoke.isPending} onClick={ask}>
                    {sub === null ? 'Revoke all tokens' : 'Revoke their tokens'}
                  </Button>
                )}
              </Confirm>
              <Button
                disabled={sub === null || scope.length === 0}
                loading={mint.isPending}
                onClick={() => mint.mutate()}
              >
                Mint token
              </Button>
            </Group>
          </Stack>
        </PermittedFields>
        {mint.data && (
          <OneTimeSecret use={`Valid until ${formatTime(mint.data.expires_at)}.`} value={mint.data.token} />
        )}
      </Stack>
    </Card>
  );
}
