import { Badge, Button, Card, Group, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { DataTable } from '../../components/display/data-table.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Confirm } from '../../components/fields/confirm.tsx';
import { useAction } from '../../queries/actions.ts';
import { useRows } from '../../queries/answers.ts';
import { client, session } from '../../queries/api.ts';
import { viaText } from '../../text/action-text.ts';
import { formatAgo, formatTime } from '../../text/format.ts';

export function Sessions() {
  const navigate = useNavigate();
  const sessions = useRows(['sessions'], () => client.accounts.listSessions());
  const end = useAction((sessionId: string) => client.accounts.endSession({ sessionId }), {
    refreshes: [['sessions']],
  });
  const endAll = useAction(() => session.endAll(), { onSuccess: () => navigate({ to: '/sign-in' }) });
  return (
    <Stack>
      <Group justify="end">
        <Confirm
          title="Sign out everywhere?"
          text="All sessions end on every device, including this one. API keys keep working."
          button="Sign out everywhere"
          onConfirm={() => endAll.mutate()}
        >
          {ask => (
            <Button variant="default" onClick={ask} loading={endAll.isPending}>
              Sign out everywhere
            </Button>
          )}
        </Confirm>
      </Group>
      <Loaded query={sessions}>
        {rows => (
          <Card withBorder>
            <DataTable
              label="Sessions"
              rows={rows}
              keyOf={row => row.sessionId}
              empty="There are no sessions."
              columns={[
                { label: 'Device', show: row => <span title={row.userAgent}>{row.device}</span> },
                { label: 'IP address', show: row => row.address ?? '–' },
                { label: 'With', show: row => viaText(row.signedInWith) },
                { label: 'Signed in', show: row => formatTime(row.createdAt) },
                { label: 'Last used', show: row => formatAgo(row.lastUsedAt) },
                {
                  label: '',
                  show: row =>
                    row.isCurrent ? (
                      <Badge variant="light">This one</Badge>
                    ) : (
                      <Confirm
                        title={`Sign out ${row.device}?`}
                        text="The person there has to sign in again. Unsaved work is lost."
                        button="Sign out"
                        onConfirm={() => end.mutate(row.sessionId)}
                      >
                        {ask => (
                          <Button
                            size="compact-sm"
                            variant="default"
                            aria-label={`Sign out ${row.device}`}
                            onClick={ask}
                          >
                            Sign out
                          </Button>
                        )}
                      </Confirm>
                    ),
                },
              ]}
            />
          </Card>
        )}
      </Loaded>
    </Stack>
  );
}
