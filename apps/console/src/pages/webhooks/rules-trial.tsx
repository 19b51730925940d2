import { Alert, Card, Code, Group, Loader, Select, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { ApiTypes } from '@stak/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CodeField } from '../../components/fields/code-field.tsx';
import { useRows } from '../../queries/answers.ts';
import { client, messageOf } from '../../queries/api.ts';
import { formatAgo } from '../../text/format.ts';
import { prettyOf } from '../../text/payload-text.ts';
import { Steps } from './connection-test.tsx';

type Rules = Pick<ApiTypes['webhooks.tryRules']['args']['body'], 'filters' | 'transform'>;

const ownSample = '{\n  "type": "order.paid",\n  "amount": 4200\n}';
const pauseMs = 400; // debounce while typing

/** The newest events of a source, to try rules with. */
const useSamples = (sourceId: string) =>
  useRows(['samples', sourceId], () => client.webhooks.listEvents({ sourceId, limit: 20 }), {
    staleTime: 30_000,
  });

export type Sample = { eventId: string | null; body: string };
export const useSample = () => useState<Sample>({ eventId: null, body: ownSample });

type Props = {
  sourceId: string;
  rules: Rules | undefined; // undefined while their JSON is invalid
  sample: Sample;
  onSample: (sample: Sample) => void;
};

/** Runs an event through the rules as they are typed. Nothing is saved or sent. */
export function RulesTrial({ sourceId, rules, sample, onSample }: Props) {
  const { data: events = [] } = useSamples(sourceId);
  const [tried] = useDebouncedValue(JSON.stringify({ rules, sample }), pauseMs);
  const trial = useQuery({
    queryKey: ['try', sourceId, tried],
    queryFn: async () => {
      const { rules: given, sample: used } = JSON.parse(tried) as { rules: Rules; sample: Sample };
      const headers: [string, string][] = [['Content-Type', 'application/json']];
      const from = used.eventId === null ? { body: used.body, headers } : { eventId: used.eventId };
      return (await client.webhooks.tryRules({ sourceId, body: { ...given, ...from } })).data;
    },
    enabled: rules !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Card withBorder component="section" aria-label="Try it">
      <Stack gap="sm">
        <Group justify="space-between" align="end">
          <Select
            label="Try it with"
            description="Runs through the rules as you type. Nothing is sent."
            data={[
              { value: '', label: 'Your own JSON' },
              ...events.map(event => ({
                value: event.eventId,
                label: `${event.eventType ?? event.eventId}, ${formatAgo(event.receivedAt)}`,
              })),
            ]}
            value={sample.eventId ?? ''}
            allowDeselect={false}
            onChange={value => onSample({ ...sample, eventId: value || null })}
            w={360}
            maw="100%"
          />
          {trial.isFetching && <Loader size="xs" aria-label="Running" />}
        </Group>
        {sample.eventId === null && (
          <CodeField
            label="Sample body"
            isLabelHidden
            language="json"
            value={sample.body}
            onChange={body => onSample({ ...sample, body })}
            minRows={4}
          />
        )}
        {rules === undefined && <Text size="sm">The rules are not JSON yet.</Text>}
        {rules !== undefined && trial.error && (
          <Alert color="red" title="The rules cannot be run">
            {messageOf(trial.error)}
          </Alert>
        )}
        <div aria-live="polite">
          {rules !== undefined && trial.data && !trial.error && (
            <>
              <Steps trial={trial.data} />
              {trial.data.body !== undefined && (
                <Code block className="stak-code" tabIndex={0} aria-label="Body that is sent">
                  {prettyOf(Uint8Array.from(atob(trial.data.body), char => char.charCodeAt(0)))}
                </Code>
              )}
            </>
          )}
        </div>
      </Stack>
    </Card>
  );
}
