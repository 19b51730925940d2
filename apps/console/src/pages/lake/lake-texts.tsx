import { Card, Code, Stack, Switch, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Failure } from '../../components/feedback/failure.tsx';
import { isWithoutLake } from '../../components/feedback/lake-failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { ConfirmDialog, type Question } from '../../components/fields/confirm.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { useMay } from '../../queries/permissions.ts';
import { formatTime } from '../../text/format.ts';

const textsKey = ['lake-texts'];

const switchOn: Question = {
  title: 'Keep texts in the lake?',
  text: 'From now on the lake copies conversation texts and webhook bodies. Everyone in this organisation, and every API key that may read, can then query them with SQL. The audit trail says who switched it on.',
  button: 'Keep texts',
  color: 'blue',
};
const switchOff: Question = {
  title: 'Erase the texts from the lake?',
  text: 'Nothing more is copied, and every text in the lake is erased. This cannot be undone: switching it on again begins with an empty table. Conversations and events themselves stay.',
  button: 'Erase texts',
};

/** Whether the lake keeps texts and payloads, with a switch for people who may change it. */
export function LakeTexts() {
  const [isOpen, question] = useDisclosure(false);
  const queries = useQueryClient();
  const mayChange = useMay()('lake.setTexts');
  const setting = useAnswer(textsKey, () => client.lake.readTexts(), { retry: false });
  const change = useSubmit(
    async (enabled: boolean) => (await client.lake.setTexts({ body: { enabled } })).data,
    { onSuccess: data => queries.setQueryData(textsKey, data) },
  );
  if (isWithoutLake(setting.error)) return null;
  return (
    <Card withBorder component="section" aria-label="Texts">
      <Title order={3} size="h5" mb="xs">
        Texts
      </Title>
      <Loaded query={setting}>
        {({ enabled, since }) => (
          <Stack gap="xs">
            <Switch
              label="Keep texts in the lake"
              checked={enabled}
              disabled={!mayChange || change.isPending}
              onChange={question.open}
            />
            <Text size="sm" c="dimmed">
              {enabled ? (
                <>
                  What was said in conversations is in <Code>conversation_turns</Code>, and bodies of webhooks
                  are in <Code>event_bodies</Code>
                  {since !== null && <>, since {formatTime(since)}</>}.
                </>
              ) : (
                'Conversation texts and webhook bodies are not copied into the lake.'
              )}
            </Text>
            {!mayChange && (
              <Text size="sm" c="dimmed">
                An owner or an admin can change this.
              </Text>
            )}
            {change.error && <Failure error={change.error} />}
            <ConfirmDialog
              {...(enabled ? switchOff : switchOn)}
              isOpen={isOpen}
              onClose={question.close}
              onConfirm={() => change.mutate(!enabled)}
            />
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}
