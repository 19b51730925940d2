import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { CopyLine } from '../../components/copy.tsx';
import { OneTimeSecret } from '../../components/one-time-secret.tsx';
import type { NewInvitation } from '../../queries/tenants.ts';
import { formatTime } from '../../text/format.ts';

// In the fragment, the token appears in no server log and no referrer.
const linkOf = (token: string): string => `${location.origin}/console/invitation#${token}`;

type Props = { invitation: NewInvitation; onDone: () => void };

export const InvitationLink = ({ invitation: { email, token, expires_at }, onDone }: Props) => (
  <Stack>
    <Text size="sm" className="stak-break">
      No e-mail is sent: give this link to <b>{email}</b> yourself. It can be used once, until{' '}
      {formatTime(expires_at)}.
    </Text>
    <OneTimeSecret value={linkOf(token)} isFocused />
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
