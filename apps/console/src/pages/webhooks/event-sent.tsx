import { Alert, Group, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Diff } from '../../components/display/diff.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { CopyLine } from '../../components/fields/copy.tsx';
import { client } from '../../queries/api.ts';
import { curlOf } from '../../text/curl.ts';
import { prettyOf } from '../../text/payload-text.ts';
import { Steps, type Trial } from './connection-test.tsx';
import type { Event } from './event-detail.tsx';
import { useEventBody } from './event-payload.tsx';
import type { Connection } from './queries.ts';

type Request = NonNullable<Trial['request']>;
type Header = readonly [name: string, value: string];

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), char => char.charCodeAt(0));

// Others may see the screen.
const secretNames = /signature|authorization|secret|token|api-?key|password|cookie/i;
const maskHeader = ([name, value]: Header): Header =>
  secretNames.test(name) ? [name, `${value.slice(0, 6)}••••••`] : [name, value];

const headText = (headers: readonly Header[]): string =>
  headers
    .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
    .toSorted()
    .join('\n');

const maskedRequest = (request: Request): Request => ({
  ...request,
  headers: request.headers.map(one => [...maskHeader(one)] as [string, string]),
});

// Runs the stored request through the current connection. Nothing is sent.
const useSent = (eventId: string, connectionId: string | undefined) =>
  useQuery({
    queryKey: ['sent', eventId, connectionId],
    queryFn: async () => {
      const body = { eventId, send: false };
      return (await client.webhooks.testConnection({ connectionId: connectionId!, body })).data;
    },
    enabled: connectionId !== undefined,
    staleTime: 60_000,
  });

type Props = { event: Event; connections: readonly Connection[] };

/** The request as sent to the destination, after filter, transform and signing, or the differences. */
export function SentRequest({ event, connections, isDiff }: Props & { isDiff: boolean }) {
  const [chosen, setChosen] = useState<string>();
  const first = event.deliveries.find(one =>
    connections.some(known => known.connectionId === one.connectionId),
  );
  const connectionId = chosen ?? first?.connectionId ?? connections[0]?.connectionId;
  const connection = connections.find(one => one.connectionId === connectionId);
  const sent = useSent(event.eventId, connectionId);
  const body = useEventBody(event.eventId);
  if (connectionId === undefined) return <Text c="dimmed">This source has no connections.</Text>;
  const lastAttempt = event.attempts.filter(one => one.connectionId === connectionId).at(-1);
  const isChanged =
    lastAttempt !== undefined &&
    connection !== undefined &&
    Date.parse(connection.updatedAt) > lastAttempt.attemptedAt;
  return (
    <Stack gap="sm">
      <Group align="end" justify="space-between">
        <Select
          label="Connection"
          data={connections.map(one => ({ value: one.connectionId, label: one.name }))}
          value={connectionId}
          allowDeselect={false}
          onChange={value => setChosen(value ?? undefined)}
        />
        {sent.data?.request && (
          <CopyLine
            value={curlOf({ ...sent.data.request, body: bytesOf(sent.data.request.body) })}
            label="Copy as curl"
          />
        )}
      </Group>
      {isChanged && (
        <Alert color="orange">
          The connection was changed after the last attempt. This is what it would send now.
        </Alert>
      )}
      <Loaded query={sent}>
        {trial =>
          isDiff ? (
            trial.request ? (
              <Loaded query={body}>
                {bytes => <Changes headers={event.headers} body={bytes} request={trial.request!} />}
              </Loaded>
            ) : (
              <Steps trial={trial} />
            )
          ) : (
            <Steps trial={{ ...trial, ...(trial.request && { request: maskedRequest(trial.request) }) }} />
          )
        }
      </Loaded>
      <Text size="sm" c="dimmed">
        Secrets and signatures are masked. A signature is made for each attempt.
      </Text>
    </Stack>
  );
}

type ChangesProps = { headers: readonly Header[]; body: Uint8Array; request: Request };

function Changes({ headers, body, request }: ChangesProps) {
  const parts = [
    {
      name: 'Headers',
      before: headText(headers.map(maskHeader)),
      after: headText(maskedRequest(request).headers),
    },
    { name: 'Body', before: prettyOf(body), after: prettyOf(bytesOf(request.body)) },
  ];
  return (
    <>
      {parts.map(({ name, before, after }) => (
        <div key={name}>
          <Text size="sm" fw={600} mb={4}>
            {name}
            {before === after && ': sent as received'}
          </Text>
          {before !== after && <Diff label={`${name}: received and sent`} before={before} after={after} />}
        </div>
      ))}
    </>
  );
}
