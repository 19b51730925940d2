import { Badge, Button, Code, Group, Stack, Text, Title } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Failure } from '../../../components/failure.tsx';
import { JsonField } from '../../../components/json-field.tsx';
import { client } from '../../../queries/api.ts';
import { formatDuration } from '../../../text/format.ts';
import { parseObject, type SkillBody } from './skill-draft.ts';

type Props = { tenant_id: string; name: string; readTyped: () => SkillBody | undefined };

/** Calls a skill once, as it stands in the form, and shows what it answers. */
export function SkillTrial({ tenant_id, name, readTyped }: Props) {
  const [text, setText] = useState('{}');
  const [isMisread, setIsMisread] = useState(false);
  const attempt = useMutation({
    mutationFn: async (body: ApiTypes['agents.testCustomSkill']['args']['body']) =>
      (await client.agents.testCustomSkill({ tenant_id, name, body })).data,
  });
  const run = () => {
    const input = parseObject(text);
    setIsMisread(input === undefined);
    const draft = readTyped();
    if (input && draft) attempt.mutate({ arguments: input, draft });
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
        </Text>
      </div>
      <JsonField
        label="What the model would say"
        maxRows={8}
        value={text}
        onChange={setText}
        error={isMisread ? 'This is not an object in JSON' : undefined}
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
            {attempt.data.ok ? JSON.stringify(attempt.data.output, null, 2) : attempt.data.reason}
          </Code>
        </Stack>
      )}
    </Stack>
  );
}
