import { Group, SegmentedControl, Text } from '@mantine/core';
import { MessageItem } from '@stak/inbox-react';
import { useState } from 'react';
import type { Draft } from './draft.ts';

type Screen = 'web' | 'phone';

// The message as the user will see it, rendered by the same component but inert.
export function MessagePreview({ draft, inboxTitle }: { draft: Draft; inboxTitle: string }) {
  const [screen, setScreen] = useState<Screen>('web');
  const nowS = Math.floor(Date.now() / 1000);
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={500}>
          Preview
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="Preview for"
          data={[
            { value: 'web', label: 'Web' },
            { value: 'phone', label: 'Phone' },
          ]}
          value={screen}
          onChange={value => setScreen(value as Screen)}
        />
      </Group>
      <div className="stak-inbox console-inbox console-preview" data-screen={screen} inert>
        <div className="stak-inbox-bar">
          <strong>{inboxTitle}</strong>
        </div>
        <ul className="stak-inbox-list">
          <MessageItem
            startsOpen
            onMark={() => {}}
            message={{
              id: 'preview',
              host_system_id: null,
              sender: '',
              audiences: { kind: draft.audience },
              received: nowS,
              delivered: nowS,
              expiredat: nowS + 1,
              read: false,
              readat: null,
              seen: false,
              archived: false,
              snoozed_until: null,
              ...(draft.category && { taxonomy: { category: draft.category } }),
              message: {
                title: draft.title || 'Title',
                body: draft.body || 'Text',
                cta_uri: draft.link || null,
              },
            }}
          />
        </ul>
      </div>
    </div>
  );
}
