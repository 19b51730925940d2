import { Button, Center, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { StakError } from '@stak/client';
import { useLocation } from '@tanstack/react-router';
import { fieldComplaints } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { submitHandler } from '../../components/submit-handler.ts';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { usePageTitle } from '../../shell/page-title.ts';

// The page of an invitation link, for people without an account. Accepting makes them a user of the tenant.
export function InvitationPage() {
  usePageTitle('Invitation');
  const token = useLocation({ select: ({ hash }) => hash });
  const accept = useSubmit(
    async (display_name: string) =>
      (await client.tenants.acceptInvitation({ body: { token, display_name } })).data,
  );
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="xl" w={400} maw="100%" aria-live="polite">
        {accept.data ? (
          <Stack gap="xs">
            <Title order={1} size="h2" className="stak-break">
              Welcome, {accept.data.display_name}
            </Title>
            <Text size="sm" className="stak-break">
              You are a user now. Open the product that you were invited to, and sign in there.
            </Text>
          </Stack>
        ) : (
          <Accepted
            isWhole={token !== ''}
            isBusy={accept.isPending}
            error={accept.error}
            onAccept={accept.mutate}
          />
        )}
      </Paper>
    </Center>
  );
}

type Props = { isWhole: boolean; isBusy: boolean; error: unknown; onAccept: (name: string) => void };

function Accepted({ isWhole, isBusy, error, onAccept }: Props) {
  const isGone = error instanceof StakError && error.status === 404;
  const submit = submitHandler(text => onAccept(text('name').trim()));
  return (
    <Stack>
      <div>
        <Title order={1} size="h2">
          You are invited
        </Title>
        <Text c="dimmed" size="sm">
          {isWhole
            ? 'Enter your name to join.'
            : 'Part of the link is missing. Copy the whole of it into the address bar.'}
        </Text>
      </div>
      {error !== null && <Failure error={error} />}
      {isGone && <Text size="sm">Ask the person who invited you for a new link.</Text>}
      {isWhole && (
        <form onSubmit={submit}>
          <Stack>
            <TextInput
              name="name"
              label="Name"
              required
              maxLength={200}
              autoComplete="name"
              error={fieldComplaints(error).display_name}
            />
            <Button type="submit" loading={isBusy}>
              Accept
            </Button>
          </Stack>
        </form>
      )}
    </Stack>
  );
}
