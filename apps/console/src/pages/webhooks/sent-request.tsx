import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { CopyLine } from '../../components/copy.tsx';
import { Failure } from '../../components/failure.tsx';
import { client } from '../../queries/api.ts';
import { curlOf } from '../../text/curl.ts';
import { Steps } from './connection-test.tsx';
import type { Event } from './event-page.tsx';
import { useEventBody } from './event-payload.tsx';

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), char => char.charCodeAt(0));
const base64Of = (bytes: Uint8Array) => btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));

// What a connection makes of the event: why its filter says no, and the request after transform and signing. Nothing is
// sent.
export function SentRequest({ event, names }: { event: Event; names: ReadonlyMap<string, string> }) {
  const body = useEventBody(event.eventId);
  const [chosen, setChosen] = useState<string>();
  const connectionId = chosen ?? event.deliveries[0]?.connectionId ?? [...names.keys()][0];
  const run = useMutation({
    mutationFn: async ({ connectionId, bytes }: { connectionId: string; bytes: Uint8Array }) => {
      const { method, headers, query = '' } = event;
      const sample = { method, headers, query, body: base64Of(bytes), isBase64: true, send: false };
      return (await client.webhooks.testConnection({ connectionId, body: sample as Sample })).data;
    },
  });
  if (connectionId === undefined) return <Text c="dimmed">This source has no connections.</Text>;
  const request = run.data?.request;
  return (
    <Stack gap="sm">
      <Group align="end">
        <Select
          label="Connection"
          data={[...names].map(([value, label]) => ({ value, label }))}
          value={connectionId}
          allowDeselect={false}
          onChange={value => {
            setChosen(value ?? undefined);
            run.reset();
          }}
        />
        <Button
          variant="default"
          loading={run.isPending}
          disabled={!body.data}
          onClick={() => body.data && run.mutate({ connectionId, bytes: body.data })}
        >
          Show what is sent
        </Button>
        {request && (
          <CopyLine value={curlOf({ ...request, body: bytesOf(request.body) })} label="Copy as curl" />
        )}
      </Group>
      <Text size="sm" c="dimmed">
        Runs this event through the connection as it is configured now, without sending it. The signature is
        made for this moment.
      </Text>
      {run.error && <Failure error={run.error} />}
      <div aria-live="polite">{run.data && <Steps trial={run.data} />}</div>
    </Stack>
  );
}

type Sample = Parameters<typeof client.webhooks.testConnection>[0]['body'];
