import {
  Alert,
  Button,
  Card,
  Code,
  Group,
  List,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { StakError } from '@stak/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Failure } from '../../components/failure.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { client } from '../../queries/api.ts';
import { useMe } from './profile.tsx';
import { LinkedProviders } from './providers.tsx';

export function Security() {
  const me = useMe();
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[]>();
  return (
    <Stack>
      {recoveryCodes && <RecoveryCodes codes={recoveryCodes} onClose={() => setRecoveryCodes(undefined)} />}
      <Loaded query={me}>
        {({ secondFactor, hasPassword }) =>
          secondFactor ? (
            <Installed hasPassword={hasPassword} onCodes={setRecoveryCodes} />
          ) : (
            <Setup hasPassword={hasPassword} onCodes={setRecoveryCodes} />
          )
        }
      </Loaded>
      <LinkedProviders />
    </Stack>
  );
}

type Props = { hasPassword: boolean; onCodes: (codes: readonly string[]) => void };

const textOf = (event: FormEvent<HTMLFormElement>, name: string): string => {
  event.preventDefault();
  return String(new FormData(event.currentTarget).get(name) ?? '');
};
const codeOf = (error: unknown): string | undefined => (error instanceof StakError ? error.code : undefined);

function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  return (
    <Alert
      title="Keep these recovery codes: they are not shown again"
      withCloseButton
      closeButtonLabel="Close"
      onClose={onClose}
    >
      <Text size="sm">Each works once, instead of a code from your app.</Text>
      <List mt="xs" listStyleType="none" aria-label="Recovery codes">
        {codes.map(code => (
          <List.Item key={code}>
            <Code>{code}</Code>
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

function Setup({ hasPassword, onCodes }: Props) {
  const queries = useQueryClient();
  const begin = useMutation({
    mutationFn: async (password: string) =>
      (await client.accounts.beginAuthenticator({ body: hasPassword ? { password } : {} })).data,
  });
  const confirm = useMutation({
    mutationFn: async (code: string) =>
      (await client.accounts.confirmAuthenticator({ body: { code } })).data.recoveryCodes,
    onSuccess: async codes => {
      onCodes(codes);
      await queries.invalidateQueries({ queryKey: ['me'] });
    },
  });
  const isWrongPassword = codeOf(begin.error) === 'accounts.password_wrong';
  const isWrongCode = codeOf(confirm.error) === 'accounts.code_wrong';
  return (
    <Card withBorder component="section" aria-label="Authenticator app" maw={520}>
      <Stack>
        <Title order={3} size="h4">
          Authenticator app
        </Title>
        <Text size="sm">With one, a password alone does not open your account.</Text>
        {begin.error !== null && !isWrongPassword && <Failure error={begin.error} />}
        {begin.data === undefined ? (
          <form onSubmit={event => begin.mutate(textOf(event, 'password'))}>
            <Stack>
              {hasPassword && (
                <PasswordInput
                  name="password"
                  label="Your password"
                  required
                  autoComplete="current-password"
                  error={isWrongPassword && 'This is not your password.'}
                />
              )}
              <Button type="submit" loading={begin.isPending}>
                Add an app
              </Button>
            </Stack>
          </form>
        ) : (
          <form onSubmit={event => confirm.mutate(textOf(event, 'code'))}>
            <Stack>
              <Text size="sm">Enter this key in your app, then the code that it shows:</Text>
              <Code className="stak-break">{begin.data.secret}</Code>
              {confirm.error !== null && !isWrongCode && <Failure error={confirm.error} />}
              <TextInput
                name="code"
                label="Code"
                required
                autoComplete="one-time-code"
                inputMode="numeric"
                error={isWrongCode && 'This is not the code that the app shows now.'}
              />
              <Button type="submit" loading={confirm.isPending}>
                Confirm
              </Button>
            </Stack>
          </form>
        )}
      </Stack>
    </Card>
  );
}

// Changing anything needs a code that was shown a moment ago, so it is asked for here.
function Installed({ hasPassword, onCodes }: Props) {
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: async ({ code, password, what }: { code: string; password: string; what: string }) => {
      await client.accounts.stepUp({ body: { code } });
      if (what === 'renew') return (await client.accounts.renewRecoveryCodes()).data.recoveryCodes;
      await client.accounts.removeAuthenticator({ body: hasPassword ? { password } : {} });
      return [];
    },
    onSuccess: async codes => {
      if (codes.length > 0) onCodes(codes);
      await queries.invalidateQueries({ queryKey: ['me'] });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    const fields = new FormData(event.currentTarget);
    const text = (name: string) => String(fields.get(name) ?? '');
    change.mutate({
      code: text('code'),
      password: text('password'),
      what: (submitter as HTMLButtonElement).value,
    });
  };
  const failed = codeOf(change.error);
  const isAtField = failed === 'accounts.code_wrong' || failed === 'accounts.password_wrong';
  return (
    <Card withBorder component="section" aria-label="Authenticator app" maw={520}>
      <form onSubmit={submit}>
        <Stack>
          <Title order={3} size="h4">
            Authenticator app
          </Title>
          <Text size="sm">Signing in with your password needs a code of your app.</Text>
          {change.error !== null && !isAtField && <Failure error={change.error} />}
          <TextInput
            name="code"
            label="Code"
            required
            autoComplete="one-time-code"
            error={failed === 'accounts.code_wrong' && 'This is not the code that the app shows now.'}
          />
          {hasPassword && (
            <PasswordInput
              name="password"
              label="Your password, to remove the app"
              autoComplete="current-password"
              error={failed === 'accounts.password_wrong' && 'This is not your password.'}
            />
          )}
          <Group justify="end">
            <Button type="submit" value="renew" variant="default" loading={change.isPending}>
              New recovery codes
            </Button>
            <Button type="submit" value="remove" color="red" loading={change.isPending}>
              Remove the app
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}
