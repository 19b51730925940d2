import {
  Alert,
  Anchor,
  Button,
  Card,
  Code,
  Group,
  List,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { StakError } from '@stak/client';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { QrCode } from '../../components/display/qr-code.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Confirm } from '../../components/fields/confirm.tsx';
import { CopyLine } from '../../components/fields/copy.tsx';
import { saveFile } from '../../components/fields/saved-file.ts';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { ConnectedApps } from './apps.tsx';
import { isWrongPassword, OwnPassword } from './own-password.tsx';
import { Passkeys } from './passkeys.tsx';
import { useMe } from './profile.tsx';
import { LinkedProviders, LinkOrganisation } from './providers.tsx';
import { useStepUp } from './step-up.tsx';

export function Security() {
  const me = useMe();
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[]>();
  return (
    <Stack>
      {recoveryCodes && <RecoveryCodes codes={recoveryCodes} onClose={() => setRecoveryCodes(undefined)} />}
      <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
        <Loaded query={me}>
          {({ secondFactor, authenticator, hasPassword }) => (
            <>
              <Passkeys hasPassword={hasPassword} onCodes={setRecoveryCodes} />
              {authenticator ? (
                <Installed hasPassword={hasPassword} />
              ) : (
                <Setup hasPassword={hasPassword} onCodes={setRecoveryCodes} />
              )}
              {secondFactor && <RenewCodes onCodes={setRecoveryCodes} />}
              <LinkOrganisation hasPassword={hasPassword} />
            </>
          )}
        </Loaded>
        <LinkedProviders />
        <ConnectedApps />
      </SimpleGrid>
    </Stack>
  );
}

type Props = { hasPassword: boolean; onCodes: (codes: readonly string[]) => void };

const codeOf = (error: unknown): string | undefined => (error instanceof StakError ? error.code : undefined);

function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  return (
    <Alert
      title="Keep these recovery codes: they are not shown again"
      withCloseButton
      closeButtonLabel="Close"
      onClose={onClose}
    >
      <Text size="sm">Each works once, instead of your app or passkey.</Text>
      <List mt="xs" listStyleType="none" aria-label="Recovery codes">
        {codes.map(code => (
          <List.Item key={code}>
            <Code>{code}</Code>
          </List.Item>
        ))}
      </List>
      <Group mt="sm" gap="xs">
        <CopyLine value={codes.join('\n')} label="Copy the codes" />
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          onClick={() => saveFile('stak-recovery-codes.txt', `${codes.join('\n')}\n`)}
        >
          Download them
        </Button>
      </Group>
    </Alert>
  );
}

function Setup({ hasPassword, onCodes }: Props) {
  const { guard, dialog } = useStepUp();
  const begin = useSubmit(async (password: string) => {
    const body = hasPassword ? { password } : {};
    return (await guard(() => client.accounts.beginAuthenticator({ body }))).data;
  });
  const confirm = useSubmit(
    async (code: string) =>
      (await client.accounts.confirmAuthenticator({ body: { code } })).data.recoveryCodes,
    { onSuccess: codes => onCodes(codes), refreshes: [['me']] },
  );
  const isWrong = isWrongPassword(begin.error);
  const isWrongCode = codeOf(confirm.error) === 'accounts.code_wrong';
  return (
    <Card withBorder component="section" aria-label="Authenticator app">
      <Stack>
        <Title order={3} size="h4">
          Authenticator app
        </Title>
        <Text size="sm">Once you have one, a password alone no longer opens your account.</Text>
        {begin.error !== null && !isWrong && <Failure error={begin.error} />}
        {begin.data === undefined ? (
          <form onSubmit={submitHandler(text => begin.mutate(text('password')))}>
            <Stack>
              {hasPassword && <OwnPassword error={begin.error} />}
              <Group justify="end">
                <Button type="submit" loading={begin.isPending}>
                  Add an app
                </Button>
              </Group>
            </Stack>
          </form>
        ) : (
          <form onSubmit={submitHandler(text => confirm.mutate(text('code')))}>
            <Stack>
              <Text size="sm">Scan this with your app, or enter the key, then the code that it shows:</Text>
              <QrCode text={begin.data.uri} label="Key of the authenticator app, as a code to scan" />
              <Group gap="xs">
                <Code className="stak-break">{begin.data.secret}</Code>
                <CopyLine value={begin.data.secret} label="Copy the key" />
                <Anchor href={begin.data.uri} size="sm">
                  Open your app on this device
                </Anchor>
              </Group>
              {confirm.error !== null && !isWrongCode && <Failure error={confirm.error} />}
              <TextInput
                name="code"
                label="Code"
                required
                autoComplete="one-time-code"
                inputMode="numeric"
                error={isWrongCode && 'This is not the code that the app shows now.'}
              />
              <Group justify="end">
                <Button type="submit" loading={confirm.isPending}>
                  Confirm
                </Button>
              </Group>
            </Stack>
          </form>
        )}
      </Stack>
      {dialog}
    </Card>
  );
}

// Every change needs a recently confirmed factor, which is asked for if necessary.
function Installed({ hasPassword }: { hasPassword: boolean }) {
  const { guard, dialog } = useStepUp();
  const remove = useSubmit(
    (password: string) =>
      guard(() => client.accounts.removeAuthenticator({ body: hasPassword ? { password } : {} })),
    { refreshes: [['me']] },
  );
  const isWrong = isWrongPassword(remove.error);
  return (
    <Card withBorder component="section" aria-label="Authenticator app">
      <form onSubmit={submitHandler(text => remove.mutate(text('password')))}>
        <Stack>
          <Title order={3} size="h4">
            Authenticator app
          </Title>
          <Text size="sm">Signing in with your password needs a code from your app.</Text>
          {remove.error !== null && !isWrong && <Failure error={remove.error} />}
          {hasPassword && <OwnPassword label="Your password, to remove the app" error={remove.error} />}
          <Group justify="end">
            <Button type="submit" color="red" loading={remove.isPending}>
              Remove the app
            </Button>
          </Group>
        </Stack>
      </form>
      {dialog}
    </Card>
  );
}

function RenewCodes({ onCodes }: { onCodes: Props['onCodes'] }) {
  const { guard, dialog } = useStepUp();
  const renew = useSubmit(() => guard(() => client.accounts.renewRecoveryCodes()), {
    onSuccess: ({ data }) => onCodes(data.recoveryCodes),
  });
  return (
    <Card withBorder component="section" aria-label="New recovery codes">
      <Stack>
        <Title order={3} size="h4">
          Recovery codes
        </Title>
        <Text size="sm">Each works once, if you have lost your app or your passkey.</Text>
        {renew.error !== null && <Failure error={renew.error} />}
        <Group justify="end">
          <Confirm
            title="Get new recovery codes?"
            text="The codes that you have now stop working, also those that you have not used."
            button="Get new codes"
            onConfirm={() => renew.mutate()}
          >
            {ask => (
              <Button variant="default" loading={renew.isPending} onClick={ask}>
                New recovery codes
              </Button>
            )}
          </Confirm>
        </Group>
      </Stack>
      {dialog}
    </Card>
  );
}
