import { Button, Card, Group, Stack, Switch, Text, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Heading } from '../../../components/display/section.tsx';
import { Failure } from '../../../components/feedback/failure.tsx';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { PermittedFields } from '../../../components/feedback/permitted.tsx';
import { Confirm } from '../../../components/fields/confirm.tsx';
import { submitHandler } from '../../../components/fields/submit-handler.ts';
import { useSubmit } from '../../../queries/actions.ts';
import { useAnswer } from '../../../queries/answers.ts';
import { client } from '../../../queries/api.ts';
import { memoryKey } from '../queries.ts';

type Props = { tenant_id: string; user_id: string; name: string };
type Change = { is_declined?: boolean; memory_summary?: string | null };

export function MemorySummary({ tenant_id, user_id, name }: Props) {
  const queries = useQueryClient();
  const queryKey = ['memory-settings', tenant_id, user_id];
  const settings = useAnswer(queryKey, () => client.agents.getMemorySettings({ tenant_id, user_id }));
  const change = useSubmit(
    (body: Change) => client.agents.changeMemorySettings({ tenant_id, user_id, body }),
    {
      done: 'Saved.',
      onSuccess: ({ data }) => queries.setQueryData(queryKey, data),
      refreshes: [memoryKey(tenant_id, user_id)],
    },
  );
  const submit = submitHandler(text => change.mutate({ memory_summary: text('summary').trim() || null }));
  return (
    <Card withBorder component="section" aria-label="Summary">
      <Heading>Summary</Heading>
      <Text c="dimmed" size="sm" mb="sm">
        What a model gets to know about {name} before every conversation. It is generated from conversations
        until somebody edits it. Clear it to have it generated again.
      </Text>
      <Loaded query={settings}>
        {({ is_declined, memory_summary, memory_updated_at }) => (
          <PermittedFields to="agents.changeMemorySettings">
            <Stack>
              <Confirm
                title={`Forget ${name}?`}
                text="Everything remembered is deleted now, and nothing is remembered from now on."
                button="Forget"
                onConfirm={() => change.mutate({ is_declined: true })}
              >
                {ask => (
                  <Switch
                    label={`Remember ${name}`}
                    checked={!is_declined}
                    disabled={change.isPending}
                    onChange={() => (is_declined ? change.mutate({ is_declined: false }) : ask())}
                  />
                )}
              </Confirm>
              {!is_declined && (
                <form key={memory_updated_at ?? ''} onSubmit={submit}>
                  <Textarea
                    name="summary"
                    label="In a few sentences"
                    autosize
                    minRows={3}
                    maxLength={4_000}
                    defaultValue={memory_summary ?? ''}
                  />
                  <Group mt="sm" justify="end">
                    <Button type="submit" loading={change.isPending}>
                      Save
                    </Button>
                  </Group>
                </form>
              )}
              {change.error && <Failure error={change.error} />}
            </Stack>
          </PermittedFields>
        )}
      </Loaded>
    </Card>
  );
}
