import { Button, Card, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Failure } from '../../../components/feedback/failure.tsx';
import { PermittedFields } from '../../../components/feedback/permitted.tsx';
import { whyId } from '../../../components/why/lines.ts';
import { Why } from '../../../components/why/why.tsx';
import { useSubmit } from '../../../queries/actions.ts';
import { useRows } from '../../../queries/answers.ts';
import { client } from '../../../queries/api.ts';
import { paced } from '../../../queries/pace.ts';
import { formatTime } from '../../../text/format.ts';
import { jsonText } from '../../../text/payload-text.ts';
import { type Approval, approvalsKey, type ConversationPath, turnsKey } from '../queries.ts';

const refreshMs = 5_000; // others may decide, and the agent may ask at any time

// Actions that the agent may take only after an approval. The conversation continues when all are decided.
export function Approvals({ conversationPath }: { conversationPath: ConversationPath }) {
  const { data = [] } = useRows(
    approvalsKey(conversationPath),
    () => client.agents.listConversationApprovals({ ...conversationPath, limit: 100 }),
    { refetchInterval: paced(refreshMs), retry: false },
  );
  return data
    .filter(one => one.status === 'waiting')
    .map(one => <WaitingApproval key={one.approval_id} conversationPath={conversationPath} approval={one} />);
}

function WaitingApproval({
  conversationPath,
  approval,
}: {
  conversationPath: ConversationPath;
  approval: Approval;
}) {
  const queries = useQueryClient();
  const [reason, setReason] = useState('');
  const { approval_id, name, input } = approval;
  const { tenant_id, conversation_id } = conversationPath;
  const decide = useSubmit(
    (approved: boolean) => {
      const why = reason.trim();
      const body = { approved, ...(!approved && why !== '' && { reason: why }) };
      return client.agents.decideApproval({ ...conversationPath, approval_id, body });
    },
    {
      onSettled: () =>
        Promise.all(
          [approvalsKey(conversationPath), turnsKey(conversationPath)].map(queryKey =>
            queries.invalidateQueries({ queryKey }),
          ),
        ),
    },
  );
  const who = approval.approval === 'admin' ? 'An admin has to agree' : 'The user has to agree';
  return (
    <Card withBorder component="section" aria-label={`Approval of ${name}`}>
      <Stack gap="xs">
        <Text fw={600}>{`Approve ${name}?`}</Text>
        <Code block className="stak-code" tabIndex={0}>
          {jsonText(input)}
        </Code>
        <Text size="xs" c="dimmed">
          {`${who}, until ${formatTime(approval.expires_at)}.`}
        </Text>
        <Why id={whyId('approval', tenant_id, conversation_id, approval_id)} about="this approval" />
        {decide.error && <Failure error={decide.error} />}
        <PermittedFields to="agents.decideApproval">
          <Group gap="xs">
            <Button size="xs" loading={decide.isPending} onClick={() => decide.mutate(true)}>
              Approve
            </Button>
            <Button
              size="xs"
              variant="default"
              disabled={decide.isPending}
              onClick={() => decide.mutate(false)}
            >
              Refuse
            </Button>
            <TextInput
              size="xs"
              flex={1}
              aria-label="Reason, if you refuse"
              placeholder="Reason, if you refuse"
              value={reason}
              onChange={event => setReason(event.currentTarget.value)}
            />
          </Group>
        </PermittedFields>
      </Stack>
    </Card>
  );
}
