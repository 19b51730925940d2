import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { CopyLine } from '../../components/fields/copy.tsx';
import { OneTimeSecret } from '../../components/fields/one-time-secret.tsx';
import { formatTime } from '../../text/format.ts';
import type { MadeInvitation } from './invite.ts';
import { invitationLink } from './portal/portal-address.ts';

type Props = { invitation: MadeInvitation; onDone: () => void };

export const InvitationLink = ({ invitation, onDone }: Props) => {
  const { email, token, expires_at, isMailed, hasPortal } = invitation;
  return (
    <Stack>
      <Text size="sm" className="stak-break">
        {isMailed ? (
          <>
            The invitation is on its way to <b>{email}</b>. Its link can be used once, until{' '}
            {formatTime(expires_at)}, and opens the portal, signed in. You can also give it to them yourself.
          </>
        ) : (
          <>
            No e-mail is sent: give this link to <b>{email}</b> yourself. It can be used once, until{' '}
            {formatTime(expires_at)}
            {hasPortal ? ', and opens the portal, signed in.' : '.'}
          </>
        )}
      </Text>
      <OneTimeSecret value={invitationLink(location.origin, invitation, hasPortal)} isFocused />
      <Text size="sm" c="dimmed">
        Your own app can accept the invitation too, with <Code>POST /v1/invitations/accept</Code> with the
        token.
      </Text>
      <Group justify="space-between">
        <CopyLine value={token} label="Copy the token alone" />
        <Button onClick={onDone}>Done</Button>
      </Group>
    </Stack>
  );
};
