import { Code, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { CopyLine } from '../../components/fields/copy.tsx';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { curlOf } from '../../text/curl.ts';
import { hexOf, prettyOf } from '../../text/payload-text.ts';
import type { Event } from './event-detail.tsx';

export const useEventBody = (eventId: string | undefined) =>
  useAnswer(['event-body', eventId], () => client.webhooks.readBody({ eventId: eventId! }), {
    enabled: eventId !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });

// The body as received: formatted if it is JSON, and byte by byte for debugging a signature.
export function WebhookPayload({ event, url }: { event: Event; url: string | undefined }) {
  const { eventId, method, headers, query } = event;
  const [view, setView] = useState('text');
  const body = useEventBody(eventId);
  return (
    <Loaded query={body}>
      {bytes => {
        const text = prettyOf(bytes);
        const curl = url !== undefined && (
          <CopyLine
            value={curlOf({ method, url: query ? `${url}?${query}` : url, headers, body: bytes })}
            label="Copy as curl"
          />
        );
        if (bytes.length === 0)
          return (
            <Group justify="space-between">
              <Text c="dimmed">The body is empty.</Text>
              {curl}
            </Group>
          );
        return (
          <Stack gap="xs">
            <Group justify="space-between">
              <SegmentedControl
                size="xs"
                aria-label="View"
                value={view}
                onChange={setView}
                data={[
                  { value: 'text', label: 'Text' },
                  { value: 'hex', label: 'Hex' },
                ]}
              />
              <Group gap="xs">
                <CopyLine value={text} label="Copy body" />
                {curl}
              </Group>
            </Group>
            <Code block className="stak-code" tabIndex={0} aria-label="Payload">
              {view === 'hex' ? hexOf(bytes) : text}
            </Code>
          </Stack>
        );
      }}
    </Loaded>
  );
}
