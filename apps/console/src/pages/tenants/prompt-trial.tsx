import { Button, Card, Group, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { Heading } from '../../components/display/section.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { formatDuration, formatNumber } from '../../text/format.ts';
import { formatCost } from '../agents/cost.ts';
import type { SettingsDraft } from './settings-draft.ts';

const operatorsChoice = 'default'; // the server knows which model that is

/** Asks the selected model one question, with the instructions as typed. */
export function PromptTrial({ draft: { provider, model, prompt } }: { draft: SettingsDraft }) {
  const [message, setMessage] = useState('');
  const attempt = useSubmit(async () => {
    const chosen = provider === operatorsChoice ? {} : { provider, model };
    return (await client.agents.testModel({ body: { ...chosen, instructions: prompt, message } })).data;
  });
  const { data } = attempt;
  return (
    <Card withBorder component="section" aria-label="Try the instructions">
      <Stack gap="sm">
        <div>
          <Heading>Try the instructions</Heading>
          <Text size="sm" c="dimmed">
            As typed here, before you save them. The model is asked once, without skills and memory; it counts
            towards the day’s spending limit.
          </Text>
        </div>
        <Textarea
          label="A user writes"
          placeholder="Where is my order?"
          autosize
          minRows={2}
          maxRows={8}
          maxLength={32_000}
          value={message}
          onChange={event => setMessage(event.currentTarget.value)}
        />
        <Group>
          <Button
            variant="default"
            loading={attempt.isPending}
            disabled={message.trim() === ''}
            onClick={() => attempt.mutate()}
          >
            Ask the model
          </Button>
        </Group>
        {attempt.error && <Failure error={attempt.error} />}
        {data && (
          <div role="status" aria-label="Answer">
            <Text size="sm" className="stak-lines stak-break" dir="auto">
              {data.answer}
            </Text>
            <Text size="xs" c="dimmed" mt={6}>
              {data.provider}/{data.model} · {formatNumber(data.usage.input_tokens)} in,{' '}
              {formatNumber(data.usage.output_tokens)} out tokens · {formatCost(data.cost_usd)} ·{' '}
              {formatDuration(data.duration_ms)}
            </Text>
          </div>
        )}
      </Stack>
    </Card>
  );
}
