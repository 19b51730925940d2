import { Code, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../api.ts';
import { CopyLine } from '../copy.tsx';
import { Loaded } from '../loaded.tsx';
import { hexOf, prettyOf } from './payload-text.ts';

// The body as it came: laid out if it is JSON, and byte by byte for whoever hunts a signature.
export function WebhookPayload({ eventId }: { eventId: string }) {
  const [view, setView] = useState('text');
  const body = useQuery({
    queryKey: ['event-body', eventId],
    queryFn: async () => (await client.webhooks.readBody({ eventId })).data,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Loaded query={body}>
      {bytes => {
        if (bytes.length === 0) return <Text c="dimmed">The body is empty.</Text>;
        const text = prettyOf(bytes);
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
              <CopyLine value={text} label="Copy" />
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
