import { Button, Code, Divider, Group, JsonInput, Stack, Switch, Text, Timeline } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { Heading } from '../../components/display/section.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { prettyOf } from '../../text/payload-text.ts';

export type Trial = ApiTypes['webhooks.testConnection']['data'];

// Runs a sample through the saved connection and shows what each step did.
export function ConnectionTrial({ connectionId }: { connectionId: string }) {
  const [sample, setSample] = useState('{\n  "type": "order.paid",\n  "amount": 4200\n}');
  const [isSent, setIsSent] = useState(false);
  const trial = useSubmit(async () => {
    const headers: [string, string][] = [['Content-Type', 'application/json']];
    const body = { body: sample, headers, send: isSent };
    return (await client.webhooks.testConnection({ connectionId, body })).data;
  });
  return (
    <Stack component="section" aria-label="Send a sample">
      <Divider />
      <Heading>Send a sample</Heading>
      <JsonInput
        label="Body"
        description="Runs through the saved connection."
        value={sample}
        onChange={setSample}
        autosize
        minRows={4}
        maxRows={14}
        classNames={{ input: 'stak-mono' }}
      />
      <Group justify="space-between">
        <Switch
          label="Send it to the destination"
          checked={isSent}
          onChange={event => setIsSent(event.currentTarget.checked)}
        />
        <Button variant="default" loading={trial.isPending} onClick={() => trial.mutate()}>
          Run the sample
        </Button>
      </Group>
      {trial.error && <Failure error={trial.error} />}
      <div aria-live="polite">{trial.data && <Steps trial={trial.data} />}</div>
    </Stack>
  );
}

export function Steps({ trial: { filter, transform, request, response } }: { trial: Trial }) {
  const isAnswered = response && response.statusCode >= 200 && response.statusCode < 300;
  return (
    <Timeline bulletSize={22} lineWidth={2} active={4}>
      <Timeline.Item
        {...bullet(filter.matched)}
        title={filter.matched ? 'The filter lets it through' : 'The filter rejects it'}
      >
        {filter.steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a finished trial never change
          <Text key={index} size="sm" pl={step.depth * 16}>
            {step.matched ? '✓' : '✗'} <span className="stak-mono">{step.rule}</span>{' '}
            <Text span size="sm" c="dimmed">
              {step.why}
            </Text>
          </Text>
        ))}
      </Timeline.Item>
      {transform && (
        <Timeline.Item
          {...bullet(transform.ok)}
          title={
            !transform.ok
              ? 'The transform failed'
              : transform.dropped
                ? 'The transform drops it'
                : 'The transform ran'
          }
        >
          {transform.message !== undefined && <Text size="sm">{transform.message}</Text>}
        </Timeline.Item>
      )}
      {request && (
        <Timeline.Item {...bullet(true)} title={`${request.method} ${request.url}`}>
          <Code block mt={4} className="stak-code" tabIndex={0} aria-label="Request">
            {request.headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
            {'\n\n'}
            {prettyOf(Uint8Array.from(atob(request.body), char => char.charCodeAt(0)))}
          </Code>
        </Timeline.Item>
      )}
      {response && (
        <Timeline.Item
          {...bullet(isAnswered === true)}
          title={response.statusCode === 0 ? 'No answer' : `Answered ${response.statusCode}`}
        >
          <Text size="sm" c="dimmed">
            {Math.round(response.latencyMs)} ms {response.error}
          </Text>
          {response.responseBody && (
            <Code block mt={4} className="stak-code" tabIndex={0} aria-label="Response">
              {response.responseBody}
            </Code>
          )}
        </Timeline.Item>
      )}
    </Timeline>
  );
}

const bullet = (isGood: boolean) => ({
  color: isGood ? 'teal' : 'red',
  bullet: isGood ? <IconCheck size={12} /> : <IconX size={12} />,
});
