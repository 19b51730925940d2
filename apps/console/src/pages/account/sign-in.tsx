import { Anchor, Button, Divider, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { StakError } from '@stak/client';
import { IconKey } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { CenteredPage } from '../../components/display/centered-page.tsx';
import { fieldComplaints } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { messageOf, session } from '../../queries/api.ts';
import { destinationOf, keepDestination } from '../../queries/destination.ts';
import { canUsePasskeys } from '../../queries/passkey.ts';
import { usePageTitle } from '../../shell/page-title.ts';
import { readDemo } from './demo.ts';
import {
  OrganisationButton,
  ProviderButtons,
  useOrganisationSignIn,
  useProviders,
} from './provider-buttons.tsx';
import { passwordHint } from './recovery.tsx';

const route = getRouteApi('/sign-in');

export function SignInPage() {
  const { to: path, email, isNew: isNewHere = false, organisation } = route.useSearch();
  const [isNew, setIsNew] = useState(isNewHere);
  usePageTitle(isNew ? 'Create an account' : 'Sign in');
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const navigate = useNavigate();
  const hash = useLocation({ select: location => location.hash });
  const to = destinationOf(path, hash);
  const [usedHash, setUsedHash] = useState<string>();
  const demoToken = hash === usedHash ? undefined : /^demo=([\w-]+)$/.exec(hash)?.[1];
  const { data: isDemoHere, isLoading: isDemoLoading } = useQuery({ queryKey: ['demo'], queryFn: readDemo });
  const areProvidersLoading = useProviders().isLoading;
  const isOrganisationLoading = useOrganisationSignIn(organisation).isLoading;

  const failed = error instanceof StakError ? error.code : undefined;
  const needsCode = !isNew && (failed === 'accounts.code_required' || failed === 'accounts.code_wrong');
  const { factors = [] } = (error instanceof StakError && (error.details as { factors?: string[] })) || {};
  const complaints: Readonly<Record<string, string>> = {
    ...fieldComplaints(error),
    ...(failed === 'accounts.code_wrong' && { code: messageOf(error) }),
  };

  const attempt = async (signIn: () => Promise<unknown>) => {
    setIsBusy(true);
    try {
      const outcome = await signIn();
      setError(undefined);
      if (outcome === 'mailed') keepDestination(to);
      await (outcome === 'mailed' ? navigate({ to: '/sign-up-mailed' }) : navigate({ href: to }));
    } catch (caught) {
      setError(caught);
    } finally {
      setIsBusy(false);
    }
  };

  const openDemo = (token: string) => attempt(() => session.openDemo(token).finally(() => setUsedHash(hash)));

  const submit = submitHandler(text => {
    void attempt(() =>
      isNew
        ? session.signUp(text('email'), text('password'), text('name'))
        : session.signIn(text('email'), text('password'), text('code')),
    );
  });

  // Shows all ways to sign in at once: a late button would move the field that somebody is about to click.
  if (isDemoLoading || areProvidersLoading || isOrganisationLoading) return null;
  return (
    <CenteredPage>
      <Stack>
        <div>
          <Title order={1} size="h2">
            {isNew ? 'Create an account' : 'Sign in to Stak'}
          </Title>
          <Text c="dimmed" size="sm">
            Webhooks, inboxes, tasks and agents
          </Text>
        </div>
        {demoToken !== undefined && (
          <>
            <Button loading={isBusy} onClick={() => openDemo(demoToken)}>
              Open the demo workspace
            </Button>
            <Divider label="or" />
          </>
        )}
        {isDemoHere && demoToken === undefined && error === undefined && (
          <Text size="sm">
            There is a demo workspace: open it with the link that the server printed when it started.
          </Text>
        )}
        {error !== undefined && !needsCode && Object.keys(complaints).length === 0 && (
          <Failure error={error} />
        )}
        {organisation !== undefined && <OrganisationButton accountId={organisation} to={to} />}
        <ProviderButtons to={to} />
        {!isNew && canUsePasskeys() && (
          <Button
            variant="default"
            leftSection={<IconKey size={18} aria-hidden />}
            loading={isBusy}
            onClick={() => attempt(() => session.signInWithPasskey())}
          >
            Sign in with a passkey
          </Button>
        )}
        <form onSubmit={submit}>
          <Stack>
            <Credentials isNew={isNew} email={email} complaints={complaints} />
            {needsCode && (
              <TextInput
                name="code"
                label="Code"
                description={codeHint(factors)}
                required
                autoFocus
                autoComplete="one-time-code"
                error={complaints.code}
              />
            )}
            <Button type="submit" loading={isBusy} variant={demoToken ? 'default' : 'filled'}>
              {isNew ? 'Sign up' : 'Sign in'}
            </Button>
          </Stack>
        </form>
        {!isNew && (
          <TextLink to="/forgot-password" size="sm" ta="center">
            Forgot your password?
          </TextLink>
        )}
        <Text size="sm" ta="center">
          {isNew ? 'Have an account already?' : 'New here?'}{' '}
          <Anchor
            component="button"
            type="button"
            onClick={() => {
              setIsNew(!isNew);
              setError(undefined);
            }}
          >
            {isNew ? 'Sign in' : 'Create an account'}
          </Anchor>
        </Text>
      </Stack>
    </CenteredPage>
  );
}

type CredentialsProps = {
  isNew: boolean;
  email: string | undefined;
  complaints: Readonly<Record<string, string>>;
};

const Credentials = ({ isNew, email, complaints }: CredentialsProps) => (
  <>
    {isNew && <TextInput name="name" label="Name" required autoComplete="name" error={complaints.name} />}
    <TextInput
      name="email"
      type="email"
      label="E-mail"
      required
      autoComplete="email"
      defaultValue={email}
      error={complaints.email}
    />
    <PasswordInput
      name="password"
      label="Password"
      description={isNew ? passwordHint : undefined}
      required
      autoComplete={isNew ? 'new-password' : 'current-password'}
      error={complaints.password}
    />
  </>
);

// The second factors that a code may come from. The answer to the correct password says which ones exist.
const codeHint = (factors: readonly string[]): string =>
  factors.includes('passkey') && !factors.includes('app')
    ? 'A recovery code; or sign in with your passkey, above'
    : 'From your authenticator app, or a recovery code';
