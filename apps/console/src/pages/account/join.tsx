import { Button, Text } from '@mantine/core';
import { useLocation, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { useAction, useSubmit } from '../../queries/actions.ts';
import { useAnswer } from '../../queries/answers.ts';
import { client, session } from '../../queries/api.ts';
import { signInFor } from '../../queries/destination.ts';
import { useMe } from '../../queries/organisation.ts';
import { Frame, withToken } from './recovery.tsx';

// The page of an invitation link. Needs a click, because programs that scan e-mails open links too.
export const JoinPage: () => ReactNode = withToken(Join);
function Join({ token }: { token: string }) {
  const invitation = useAnswer(['invitation', token], () =>
    client.accounts.readInvitation({ body: { token } }),
  );
  return (
    <Frame title="Join an organisation">
      <Loaded query={invitation}>
        {({ name, invitedBy, role, email }) => (
          <>
            <Text size="sm" className="stak-break">
              {invitedBy ?? 'Somebody'} invites <b>{email}</b> to <b>{name}</b>, with the role {role}.
            </Text>
            {session.isSignedIn() ? (
              <Accept token={token} email={email} name={name} />
            ) : (
              <SignInFirst email={email} />
            )}
          </>
        )}
      </Loaded>
      {invitation.error !== null && (
        <>
          <Text size="sm">Ask the person who invited you for another one.</Text>
          <TextLink to="/" size="sm">
            Go to Stak
          </TextLink>
        </>
      )}
    </Frame>
  );
}

function SignInFirst({ email }: { email: string }) {
  const here = useLocation({ select: location => location.href });
  const navigate = useNavigate();
  const go = (isNew: boolean) => navigate(signInFor(here, { email, isNew }));
  return (
    <>
      <Button onClick={() => go(true)}>Create an account</Button>
      <Button variant="default" onClick={() => go(false)}>
        Sign in
      </Button>
    </>
  );
}

function Accept({ token, email, name }: { token: string; email: string; name: string }) {
  const me = useMe();
  const accept = useSubmit(async () => {
    const { data } = await client.accounts.acceptInvitation({ body: { token } });
    await session.switchTo(data.accountId);
  });
  const signOut = useAction(() => session.signOut());
  return (
    <Loaded query={me}>
      {own =>
        own.email === email ? (
          <>
            {accept.error !== null && <Failure error={accept.error} />}
            <Button loading={accept.isPending} onClick={() => accept.mutate()}>
              Join {name}
            </Button>
          </>
        ) : (
          <>
            <Text size="sm" className="stak-break">
              You are signed in as {own.email}. Sign out, and in again with {email}.
            </Text>
            <Button loading={signOut.isPending} onClick={() => signOut.mutate()}>
              Sign out
            </Button>
          </>
        )
      }
    </Loaded>
  );
}
