import { Alert, Button, Checkbox, Code, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { CenteredPage } from '../../components/display/centered-page.tsx';
import { fieldComplaints } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { useSubmit } from '../../queries/actions.ts';
import { client, session } from '../../queries/api.ts';
import { takeDestination } from '../../queries/destination.ts';
import { usePageTitle } from '../../shell/page-title.ts';
import { readDemo } from './demo.ts';

export const passwordHint = 'At least ten characters: three or four words that do not belong together.';

// The pages that links in e-mails open. The token is in the fragment, which browsers never send to a server. Another
// link opened in the same tab starts over.
export const withToken = (Page: (props: { token: string }) => ReactNode) => (): ReactNode => {
  const hash = useLocation({ select: location => location.hash });
  const token = /^token=([\w.-]+)$/.exec(hash)?.[1];
  return token === undefined ? <BrokenLink /> : <Page key={token} token={token} />;
};

export function Frame({ title, children }: { title: string; children: ReactNode }) {
  usePageTitle(title);
  return (
    <CenteredPage>
      <Stack aria-live="polite">
        <Title order={1} size="h2">
          {title}
        </Title>
        {children}
      </Stack>
    </CenteredPage>
  );
}

export function ForgotPasswordPage() {
  const [email, setEmail] = useState<string>();
  const request = useSubmit(
    (address: string) => client.accounts.requestPasswordReset({ body: { email: address } }),
    { onSuccess: (_, address) => setEmail(address) },
  );
  const submit = submitHandler(text => request.mutate(text('email')));
  if (email !== undefined)
    return (
      <Frame title="Check your e-mail">
        <Text size="sm" className="stak-break">
          If <b>{email}</b> has an account, an e-mail with a link is on its way. The link works for one hour.
        </Text>
        <NewestMail />
        <TextLink to="/sign-in" size="sm">
          Back to sign in
        </TextLink>
      </Frame>
    );
  const complaints = fieldComplaints(request.error);
  return (
    <Frame title="Forgot your password?">
      <Text size="sm" c="dimmed">
        We’ll send you a link to choose a new one.
      </Text>
      {request.error !== null && complaints.email === undefined && <Failure error={request.error} />}
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            name="email"
            type="email"
            label="E-mail"
            required
            autoComplete="email"
            error={complaints.email}
          />
          <Button type="submit" loading={request.isPending}>
            Send the link
          </Button>
        </Stack>
      </form>
      <TextLink to="/sign-in" size="sm">
        Back to sign in
      </TextLink>
    </Frame>
  );
}

// In development, e-mails are files; this is the newest one.
function NewestMail() {
  const { data } = useQuery({ queryKey: ['demo', 'mail'], queryFn: readDemo, refetchInterval: 1000 });
  if (!data?.newestMail) return null;
  return (
    <Alert title="This server writes e-mails to a folder">
      <Code className="stak-break">{data.newestMail}</Code>
    </Alert>
  );
}

export const ResetPasswordPage: () => ReactNode = withToken(ResetPassword);
function ResetPassword({ token }: { token: string }) {
  const reset = useSubmit((chosen: { newPassword: string; endAccess: boolean }) =>
    client.accounts.finishPasswordReset({ body: { token, ...chosen } }),
  );
  const submit = submitHandler(text =>
    reset.mutate({ newPassword: text('password'), endAccess: text('endAccess') !== '' }),
  );
  if (reset.isSuccess)
    return (
      <Frame title="Your password is changed">
        <Text size="sm">All your sessions have ended. Sign in with the new password.</Text>
        <TextLink to="/sign-in" size="sm">
          Sign in
        </TextLink>
      </Frame>
    );
  const complaint = fieldComplaints(reset.error).newPassword;
  return (
    <Frame title="Choose a new password">
      {reset.error !== null && complaint === undefined && <Failure error={reset.error} />}
      <form onSubmit={submit}>
        <Stack>
          <PasswordInput
            name="password"
            label="New password"
            description={passwordHint}
            required
            autoComplete="new-password"
            error={complaint}
          />
          <Checkbox
            name="endAccess"
            label="Also end all other access"
            description="API keys that you created, your calendar feed, and the sign-ins of your tenants’ users. Choose it if somebody else may have used your account."
          />
          <Button type="submit" loading={reset.isPending}>
            Change the password
          </Button>
        </Stack>
      </form>
      <TextLink to="/forgot-password" size="sm">
        Send another link
      </TextLink>
    </Frame>
  );
}

export function SignUpMailedPage() {
  return (
    <Frame title="Check your e-mail">
      <Text size="sm">An e-mail is on its way. Open the link in it to finish.</Text>
      <NewestMail />
      <TextLink to="/sign-in" size="sm">
        Back to sign in
      </TextLink>
    </Frame>
  );
}

// Asks for the password again, because somebody else may have signed up with this address and another password.
export const FinishSignUpPage: () => ReactNode = withToken(FinishSignUp);
function FinishSignUp({ token }: { token: string }) {
  const navigate = useNavigate();
  const finish = useSubmit((password: string) => session.finishSignUp(token, password), {
    onSuccess: () => navigate({ href: takeDestination() ?? '/' }),
  });
  const submit = submitHandler(text => finish.mutate(text('password')));
  return (
    <Frame title="Finish your sign-up">
      {finish.error !== null && <Failure error={finish.error} />}
      <form onSubmit={submit}>
        <Stack>
          <PasswordInput
            name="password"
            label="Password"
            description="The one that you signed up with"
            required
            autoComplete="current-password"
          />
          <Button type="submit" loading={finish.isPending}>
            Create the account
          </Button>
        </Stack>
      </form>
    </Frame>
  );
}

function BrokenLink() {
  return (
    <Frame title="Part of the link is missing">
      <Text size="sm">Copy the whole link from the e-mail into the address bar.</Text>
    </Frame>
  );
}

// Needs a click, because programs that scan e-mails open links too.
export const VerifyEmailPage: () => ReactNode = withToken(VerifyEmail);
function VerifyEmail({ token }: { token: string }) {
  const verify = useSubmit(() => client.accounts.verifyEmail({ body: { token } }));
  if (verify.isSuccess)
    return (
      <Frame title="Your address is verified">
        <TextLink to="/" size="sm">
          Go to the overview
        </TextLink>
      </Frame>
    );
  return (
    <Frame title="Verify your address">
      <Text size="sm">Confirm that the mail with this link came to your address.</Text>
      {verify.error !== null && <Failure error={verify.error} />}
      <Button loading={verify.isPending} onClick={() => verify.mutate()}>
        This is my address
      </Button>
      <TextLink to="/account" size="sm">
        Send another link
      </TextLink>
    </Frame>
  );
}

export const ConfirmEmailPage: () => ReactNode = withToken(ConfirmEmail);
function ConfirmEmail({ token }: { token: string }) {
  const confirm = useSubmit(
    async () => (await client.accounts.confirmEmail({ body: { token } })).data.status,
  );
  if (confirm.data === 'changed')
    return (
      <Frame title="Your address is changed">
        <Text size="sm">Sign in with the new one from now on.</Text>
        <TextLink to="/account" size="sm">
          Go to your account
        </TextLink>
      </Frame>
    );
  if (confirm.data === 'waiting')
    return (
      <Frame title="One more to go">
        <Text size="sm">
          The other address has to confirm the change too. Open the link that was sent to it.
        </Text>
      </Frame>
    );
  return (
    <Frame title="Change your address">
      <Text size="sm">
        Your account gets the new address when every address that got this mail has confirmed.
      </Text>
      {confirm.error !== null && <Failure error={confirm.error} />}
      <Button loading={confirm.isPending} onClick={() => confirm.mutate()}>
        Confirm the change
      </Button>
    </Frame>
  );
}
