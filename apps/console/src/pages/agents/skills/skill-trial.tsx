import { Badge, Button, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Failure } from '../../../components/feedback/failure.tsx';
import { JsonField } from '../../../components/fields/json-field.tsx';
import { useSubmit } from '../../../queries/actions.ts';
import { client } from '../../../queries/api.ts';
import { formatDuration } from '../../../text/format.ts';
import { jsonText } from '../../../text/payload-text.ts';
import { type FilledSkill, parseObject } from './skill-draft.ts';

type Trial = FilledSkill & { input: { [name: string]: unknown } };
type Props = { tenant_id: string; isNew: boolean; readTyped: () => FilledSkill | undefined };

/** Calls a skill once, as it is typed in the form, and shows what it answers. */
export function SkillTrial({ tenant_id, isNew, readTyped }: Props) {
  const [text, setText] = useState('{}');
  const [isMisread, setIsMisread] = useState(false);
  const attempt = useSubmit(
    async ({ name, body: draft, input }: Trial) =>
      (await client.agents.testCustomSkill({ tenant_id, name, body: { arguments: input, draft } })).data,
  );
  const run = () => {
    const input = parseObject(text);
    setIsMisread(input === undefined);
    const filled = readTyped();
    if (input && filled) attempt.mutate({ ...filled, input });
  };
  return (
    <Stack gap="sm" component="section" aria-label="Try it">
      <div>
        <Title order={3} size="h5">
          Try it
        </Title>
        <Text size="sm" c="dimmed">
          Calls your server as the agent would, with the skill as it is typed above. Nothing is saved, and no
          model is asked.
          {isNew &&
            ' The skill gets its secret when you register it, so a server that verifies signatures refuses this call.'}
        </Text>
      </div>
      <JsonField
        label="Sample arguments"
        maxRows={8}
        value={text}
        onChange={setText}
        error={isMisread ? 'Enter a JSON object' : undefined}
      />
      <Group>
        <Button variant="default" loading={attempt.isPending} onClick={run}>
          Call it
        </Button>
      </Group>
      {attempt.error && <Failure error={attempt.error} />}
      {attempt.data && (
        <Stack gap={6} role="status" aria-label="Answer">
          <Group gap="xs">
            <Badge variant="light" color={attempt.data.ok ? 'teal' : 'red'}>
              {attempt.data.ok ? 'Answered' : 'Failed'}
            </Badge>
            <Text size="sm" c="dimmed">
              in {formatDuration(attempt.data.duration_ms)}
            </Text>
          </Group>
          <Code block className="stak-code" tabIndex={0}>
            {attempt.data.ok ? jsonText(attempt.data.output) : attempt.data.reason}
          </Code>
        </Stack>
      )}
    </Stack>
  );
}
