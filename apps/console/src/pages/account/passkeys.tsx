import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Section } from '../../components/display/section.tsx';
import { fieldComplaints } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../components/fields/submit-row.tsx';
import { useAction, useSubmit } from '../../queries/actions.ts';
import { useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { canUsePasskeys, createPasskey, nameOfThisMachine } from '../../queries/passkey.ts';
import { formatAgo } from '../../text/format.ts';
import { isWrongPassword, OwnPassword } from './own-password.tsx';
import { useStepUp } from './step-up.tsx';

type Props = { hasPassword: boolean; onCodes: (codes: readonly string[]) => void };

export function Passkeys({ hasPassword, onCodes }: Props) {
  const queries = useQueryClient();
  const passkeys = useRows(['passkeys'], () => client.accounts.listPasskeys());
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: ['passkeys'] });
    await queries.invalidateQueries({ queryKey: ['me'] });
  };
  return (
    <Section title="Passkeys">
      <Text size="sm">
        Sign in with your phone, this device or a security key, without a password. Once you have one, a
        password alone no longer opens your account.
      </Text>
      <Loaded query={passkeys}>
        {rows =>
          rows.map(row => (
            <PasskeyRow key={row.passkeyId} row={row} hasPassword={hasPassword} onChange={refresh} />
          ))
        }
      </Loaded>
      {canUsePasskeys() ? (
        <AddPasskey
          hasPassword={hasPassword}
          onAdded={codes => {
            if (codes) onCodes(codes);
            void refresh();
          }}
        />
      ) : (
        <Unavailable />
      )}
    </Section>
  );
}

function Unavailable() {
  const named = nameOfThisMachine();
  return (
    <Alert color="blue" title="Not from this address">
      {named === undefined
        ? 'Browsers make passkeys for a domain name by https. Reach this server by one.'
        : `Browsers make no passkeys for an IP address. Open ${named} instead.`}
    </Alert>
  );
}

function AddPasskey({
  hasPassword,
  onAdded,
}: {
  hasPassword: boolean;
  onAdded: (codes: readonly string[] | undefined) => void;
}) {
  const { guard, dialog } = useStepUp();
  const add = useSubmit(async ({ name, password }: { name: string; password: string }) => {
    const body = hasPassword ? { password } : {};
    const { data: begun } = await guard(() => client.accounts.beginPasskey({ body }));
    const passkey = await createPasskey(begun.options);
    return (await client.accounts.addPasskey({ body: { name, passkey } })).data.recoveryCodes;
  });
  const submit = submitHandler((text, form) => {
    add.mutate(
      { name: text('name'), password: text('password') },
      {
        onSuccess: codes => {
          form.reset();
          onAdded(codes);
        },
      },
    );
  });
  const { name: wrongName } = fieldComplaints(add.error);
  const isWrong = isWrongPassword(add.error);
  return (
    <>
      {add.error !== null && !isWrong && wrongName === undefined && <Failure error={add.error} />}
      <form onSubmit={submit} aria-label="Add a passkey">
        <Stack>
          <TextInput
            name="name"
            label="Name of the passkey"
            placeholder="My phone"
            required
            maxLength={100}
            error={wrongName}
          />
          {hasPassword && <OwnPassword error={add.error} />}
          <SubmitRow isBusy={add.isPending}>Add a passkey</SubmitRow>
        </Stack>
      </form>
      {dialog}
    </>
  );
}

type Row = { passkeyId: string; name: string; isSynced: boolean; lastUsedAt?: string };

function PasskeyRow({
  row: { passkeyId, name, isSynced, lastUsedAt },
  hasPassword,
  onChange,
}: {
  row: Row;
  hasPassword: boolean;
  onChange: () => Promise<void>;
}) {
  const [mode, setMode] = useState<'rename' | 'remove'>();
  const { guard, dialog } = useStepUp();
  const done = async () => {
    setMode(undefined);
    await onChange();
  };
  const rename = useAction(
    (next: string) => client.accounts.renamePasskey({ passkeyId, body: { name: next } }),
    { onSuccess: done },
  );
  const remove = useSubmit(
    (password: string) =>
      guard(() => client.accounts.removePasskey({ passkeyId, body: hasPassword ? { password } : {} })),
    { onSuccess: done },
  );
  const submit = submitHandler(text => (mode === 'rename' ? rename : remove).mutate(text('text')));
  const isWrong = isWrongPassword(remove.error);
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <div>
          <Text fw={600}>{name}</Text>
          <Text size="xs" c="dimmed">
            {isSynced ? 'on several devices' : 'on one device'} ·{' '}
            {lastUsedAt === undefined ? 'not used yet' : `used ${formatAgo(lastUsedAt)}`}
          </Text>
        </div>
        <Group gap="xs">
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Rename ${name}`}
            onClick={() => setMode('rename')}
          >
            Rename
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Remove ${name}`}
            onClick={() => setMode('remove')}
          >
            Remove
          </Button>
        </Group>
      </Group>
      {remove.error !== null && mode === 'remove' && !isWrong && <Failure error={remove.error} />}
      {mode !== undefined && (
        <form onSubmit={submit} aria-label={`${mode === 'rename' ? 'Rename' : 'Remove'} the passkey`}>
          <Group align="start">
            {mode === 'rename' && (
              <TextInput
                name="text"
                label="New name"
                required
                maxLength={100}
                defaultValue={name}
                data-autofocus
              />
            )}
            {mode === 'remove' && hasPassword && (
              <OwnPassword name="text" label="Your password, to remove it" w={240} error={remove.error} />
            )}
            <Button
              type="submit"
              mt={mode === 'rename' || hasPassword ? 25 : 0}
              color={mode === 'remove' ? 'red' : undefined}
              loading={rename.isPending || remove.isPending}
            >
              {mode === 'rename' ? 'Save the name' : 'Remove the passkey'}
            </Button>
          </Group>
        </form>
      )}
      {dialog}
    </Stack>
  );
}
